// Selects the runs to compare, with the latest two of each experiment as suggestions.
import { useQueries, useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { runsQuery } from '../../api/queries';
import type { RunRow, Runs } from '../../api/types';
import { Button, buttonLook } from '../../components/button';
import { CommandSnippet, EmptyState } from '../../components/empty-state';
import { ErrorMessage } from '../../components/error-message';
import { Panel } from '../../components/panel';
import { Skeleton } from '../../components/skeleton';
import { Text } from '../../components/text';
import { Time } from '../../components/time';
import { Verdict } from '../../components/verdict';
import { pluralize, shortCommit } from '../../lib/format';
import { compareUrl } from './parameters';
import { RunLetter, runInSentence, runLabel } from './run-letter';
import { RunPicker } from './run-picker';

/** The maximum number of experiments listed. */
const MAX_EXPERIMENTS = 8;

interface RunSelectionProps {
  /** The run that is already selected. */
  first: string | undefined;
  onChoose: (ids: string[]) => void;
}

export function RunSelection({ first, onChoose }: RunSelectionProps) {
  const known = useQuery(runsQuery({ limit: 1 }));
  if (known.isPending) return <Skeleton label="Loading runs" rows={4} className="h-16" />;
  if (known.isError) {
    return (
      <ErrorMessage title="Failed to load the runs" error={known.error} onRetry={() => known.refetch()} />
    );
  }
  if (known.data.known === 0) {
    return (
      <EmptyState title="No runs to compare yet">
        <p>Run your experiments, make a change, and run them again.</p>
        <CommandSnippet>cargo cobalt run</CommandSnippet>
      </EmptyState>
    );
  }
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <SelectRuns first={first} onChoose={onChoose} />
      <LatestRuns experiments={known.data.experiments} />
    </div>
  );
}

/** A button for each run, which opens the run picker. */
function SelectRuns({ first, onChoose }: RunSelectionProps) {
  const [ids, setIds] = useState<string[]>(first === undefined ? [] : [first]);
  const [openPlace, setOpenPlace] = useState<number>();
  const [experiment, setExperiment] = useState<string>();
  const select = (run: RunRow) => {
    const next = [...ids];
    next[openPlace ?? 0] = run.id;
    setIds(next);
    setExperiment(run.name);
    setOpenPlace(undefined);
  };
  return (
    <Panel title="Select runs">
      <ol className="flex flex-col gap-2">
        {[0, 1, 2].map((index) => (
          <li key={index} className="flex items-center gap-3">
            <RunLetter place={index} />
            <Button
              className="min-w-0 grow justify-start!"
              disabled={index > ids.length}
              onClick={() => setOpenPlace(index)}
            >
              {ids[index] === undefined ? (
                <span className="text-muted">
                  {runLabel(index)}
                  {index === 2 && ' (optional)'}
                </span>
              ) : (
                <>
                  {runLabel(index)} <code className="font-mono text-xs">{ids[index].slice(0, 12)}</code>
                </>
              )}
            </Button>
          </li>
        ))}
      </ol>
      <Button look="main" className="mt-4" disabled={ids.length < 2} onClick={() => onChoose(ids)}>
        Compare
      </Button>
      {openPlace !== undefined && (
        <RunPicker
          title={`Select ${runInSentence(openPlace)}`}
          experiment={experiment}
          selected={ids}
          onSelect={select}
          onClose={() => setOpenPlace(undefined)}
        />
      )}
    </Panel>
  );
}

function LatestRuns({ experiments }: Pick<Runs, 'experiments'>) {
  const several = experiments.filter(({ runs }) => runs > 1).slice(0, MAX_EXPERIMENTS);
  const latest = useQueries({
    queries: several.map(({ name }) => runsQuery({ experiment: name, limit: 2 })),
  });
  return (
    <Panel title="Latest two runs">
      {several.length === 0 && (
        <EmptyState title="No experiment has two runs yet">
          <p>Make a change and run the experiment again.</p>
          <CommandSnippet>cargo cobalt run</CommandSnippet>
        </EmptyState>
      )}
      <ul className="divide-y divide-line">
        {several.map(({ name, runs }, index) => (
          <li key={name}>
            <LatestPair name={name} count={runs} latest={latest[index]?.data?.runs} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function LatestPair({ name, count, latest }: { name: string; count: number; latest: RunRow[] | undefined }) {
  const [other, base] = latest ?? [];
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 grow">
        <p className="truncate font-medium">
          <Text>{name}</Text>{' '}
          <span className="font-normal text-muted text-xs">{pluralize(count, 'run')}</span>
        </p>
        {base !== undefined && other !== undefined && (
          <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-xs">
            <RunTime run={base} />
            <ArrowRight className="size-3.5" aria-label="then" />
            <RunTime run={other} />
            <Verdict verdict={other.verdict} />
          </p>
        )}
      </div>
      {base !== undefined && other !== undefined && (
        <Link
          to={compareUrl([base.id, other.id])}
          className={buttonLook()}
          aria-label={`Compare the latest two runs of ${name}`}
        >
          Compare
        </Link>
      )}
    </div>
  );
}

function RunTime({ run }: { run: RunRow }) {
  return (
    <span className="inline-flex gap-1.5">
      <Time timestamp={run.timestamp} />
      {typeof run.gitCommit === 'string' && <code className="font-mono">{shortCommit(run.gitCommit)}</code>}
    </span>
  );
}
