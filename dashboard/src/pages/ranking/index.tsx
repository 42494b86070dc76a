// The page that ranks several runs: the variants of a group, or any runs.

import { useQuery } from '@tanstack/react-query';
import clsx from 'clsx';
import { GitCompareArrows, LoaderCircle, TriangleAlert } from 'lucide-react';
import { Link, useParams } from 'react-router';
import { ApiError } from '../../api/client';
import { useLive } from '../../api/events';
import { groupQuery, type MatrixFilter, rankingQuery } from '../../api/queries';
import type { LiveRun, Ranking } from '../../api/types';
import { buttonLook } from '../../components/button';
import { EmptyState } from '../../components/empty-state';
import { ErrorMessage } from '../../components/error-message';
import { Select } from '../../components/select';
import { Skeleton } from '../../components/skeleton';
import { Text } from '../../components/text';
import { ALL_RUNS, comparisonOf, MAX_COMPARED, runUrl } from '../../lib/addresses';
import { formatCount, formatDateTime, pluralize } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { useTitle } from '../../lib/use-title';
import { useUrlParameters } from '../../lib/use-url-parameters';
import { Details } from './details';
import { Differences } from './differences';
import { Matrix } from './matrix';
import { evaluatorsOf } from './pareto';
import { Preferences } from './preferences';
import { ScoreAndCost } from './score-and-cost';
import { Variants } from './variants';

export function Component() {
  const { group } = useParams();
  const { get } = useUrlParameters();
  const ids = get('runs').split(',').filter(Boolean);
  return group === undefined ? <RunsPage ids={ids} /> : <GroupPage group={group} />;
}

function GroupPage({ group }: { group: string }) {
  const { data, error, refetch } = useQuery(groupQuery(group));
  const { hasReceived, runs } = useLive();
  const experiment = data?.ranking.experiment ?? data?.live[0]?.variant?.experiment;
  useTitle(experiment == null ? 'Variants' : `Variants of ${escapeHidden(experiment)}`);
  if (data === undefined) return <Pending error={error} onRetry={refetch} what="variants" />;
  // Events are newer.
  const unfinished = hasReceived ? runs.filter((run) => run.variant?.group === group) : data.live;
  return (
    <div className="flex min-h-[calc(100dvh-7.75rem)] flex-col gap-3">
      <Heading
        title={<>Variants of {experiment != null && <Text>{experiment}</Text>}</>}
        ranking={data.ranking}
      />
      <Unfinished runs={unfinished} />
      {data.ranking.runs.length > 0 && <Answer ranking={data.ranking} filter={{ group }} name="Variant" />}
    </div>
  );
}

function RunsPage({ ids }: { ids: string[] }) {
  const { data, error, refetch } = useQuery({ ...rankingQuery(ids), enabled: ids.length > 1 });
  useTitle('Ranking');
  if (ids.length < 2) {
    return (
      <EmptyState title="No runs to rank" isPage>
        <p>Select two to eight runs in the list, compare them, and rank them from there.</p>
        <Link to={ALL_RUNS} className={buttonLook()}>
          Show all runs
        </Link>
      </EmptyState>
    );
  }
  if (data === undefined) return <Pending error={error} onRetry={refetch} what="runs" />;
  return (
    <div className="flex min-h-[calc(100dvh-7.75rem)] flex-col gap-3">
      <Heading title={`Ranking of ${pluralize(data.runs.length, 'run')}`} ranking={data} />
      <Answer ranking={data} filter={{ runs: ids.join() }} name="Run" />
    </div>
  );
}

function Pending({ error, onRetry, what }: { error: Error | null; onRetry: () => void; what: string }) {
  if (error === null) return <Skeleton label={`Ranking the ${what}`} rows={4} className="h-32" />;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <EmptyState title={`No such ${what}`} isPage>
        <p className="max-w-xl [overflow-wrap:anywhere]">
          <Text>{error.message}</Text>
        </p>
        <Link to={ALL_RUNS} className={buttonLook()}>
          Show all runs
        </Link>
      </EmptyState>
    );
  }
  return <ErrorMessage title={`Failed to rank the ${what}`} error={error} onRetry={onRetry} />;
}

function Heading({ title, ranking: { runs, group } }: { title: React.ReactNode; ranking: Ranking }) {
  const first = runs[0]?.run;
  const canCompare = runs.length > 1 && runs.length <= MAX_COMPARED;
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
      <div className="min-w-0">
        <h1 className="font-semibold text-xl [overflow-wrap:anywhere]">{title}</h1>
        {first !== undefined && (
          <p className="flex flex-wrap gap-x-4 text-muted">
            {group != null && (
              <span>
                Group <code className="font-mono text-text text-xs">{group}</code>
              </span>
            )}
            <span>
              Started{' '}
              <time dateTime={first.timestamp} className="whitespace-nowrap tabular-nums">
                {formatDateTime(first.timestamp)}
              </time>
            </span>
            <span>{pluralize(first.items, 'item')}</span>
            {first.runs > 1 && <span>{formatCount(first.runs)} trials per item</span>}
          </p>
        )}
      </div>
      {canCompare && (
        <Link to={comparisonOf(runs.map(({ run }) => run.id))} className={buttonLook()}>
          <GitCompareArrows aria-hidden="true" />
          Compare with the first
        </Link>
      )}
    </header>
  );
}

/** The variants that are in progress or interrupted. */
function Unfinished({ runs }: { runs: LiveRun[] }) {
  if (runs.length === 0) return null;
  return (
    <ul
      aria-label="Unfinished variants"
      className="flex flex-col gap-1 rounded-lg bg-accent-soft px-4 py-2.5"
    >
      {runs.map((run) => (
        <li key={run.id} className="flex items-center gap-2">
          <LoaderCircle className="size-4 shrink-0 text-accent" aria-hidden="true" />
          <span className="min-w-0">
            <Link to={runUrl(run.id)} className="font-medium hover:underline">
              <Text>{run.variant?.name ?? run.name}</Text>
            </Link>{' '}
            {run.state === 'running' ? 'in progress' : 'interrupted'}: {formatCount(run.finishedItems)} of{' '}
            {pluralize(run.totalItems, 'item')}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface AnswerProps {
  ranking: Ranking;
  filter: Pick<MatrixFilter, 'runs' | 'group'>;
  /** What a run is called. */
  name: 'Variant' | 'Run';
}

function Answer({ ranking, filter, name }: AnswerProps) {
  const { get, set } = useUrlParameters();
  const isCompared = ranking.runs.length > 1;
  const evaluators = evaluatorsOf(ranking);
  const evaluator = evaluators.find((one) => one === get('evaluator')) ?? '';
  const preferences = ranking.preferences ?? [];
  return (
    <>
      <Recommendation ranking={ranking} />
      <Details
        actions={
          evaluators.length > 1 && (
            <Select
              label="Score"
              value={evaluator}
              options={[
                { value: '', name: 'Mean over evaluators' },
                ...evaluators.map((one) => ({ value: one, name: escapeHidden(one) })),
              ]}
              onChange={(value) => set({ evaluator: value })}
              className="max-w-56"
            />
          )
        }
        sections={[
          ...(isCompared
            ? [
                {
                  id: 'cost',
                  title: 'Score and agent cost',
                  content: <ScoreAndCost ranking={ranking} name={name} evaluator={evaluator} />,
                },
              ]
            : []),
          { id: 'runs', title: `${name}s`, content: <Variants ranking={ranking} name={name} /> },
          ...(isCompared
            ? [
                {
                  id: 'differences',
                  title: 'Differences beyond noise',
                  content: <Differences ranking={ranking} />,
                },
              ]
            : []),
          ...preferences.map((preference) => ({
            id: `preferred:${preference.evaluator}`,
            title: `Preferred by ${escapeHidden(preference.evaluator)}`,
            content: <Preferences preference={preference} ranking={ranking} name={name} />,
          })),
        ]}
      />
      <Matrix ranking={ranking} filter={filter} evaluator={evaluator} />
    </>
  );
}

/** A sentence with names in backticks, which are emphasized. */
function Sentence({ children }: { children: string }) {
  return children.split('`').map((part, place) =>
    place % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by their index
      <strong key={place}>
        <Text>{part}</Text>
      </strong>
    ) : (
      part
    ),
  );
}

function Recommendation({ ranking }: { ranking: Ranking }) {
  const { runs, notes = [] } = ranking;
  // One run is not better than others.
  const recommendation = runs.length > 1 ? ranking.recommendation : null;
  if (recommendation == null && notes.length === 0) return null;
  return (
    <section aria-label="Result" className="rounded-lg border border-line bg-surface px-4 py-3">
      {recommendation != null && (
        <p className="text-base [overflow-wrap:anywhere]">
          <Sentence>{recommendation.text}</Sentence>.
        </p>
      )}
      {notes.length > 0 && (
        <ul
          aria-label="Caveats"
          className="mt-2 flex flex-col gap-1 rounded-md bg-warn-soft px-3 py-1.5 text-warn text-xs/5 first:mt-0"
        >
          {notes.map((note) => (
            <li key={note} className="flex gap-2">
              <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
              <span
                className={clsx(
                  'min-w-0 [overflow-wrap:anywhere]',
                  // A name stays as it is.
                  !note.startsWith('`') && 'first-letter:uppercase',
                )}
              >
                <Sentence>{note}</Sentence>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
