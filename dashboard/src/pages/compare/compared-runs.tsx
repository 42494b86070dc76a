// The compared runs with their key metrics.
import { ArrowLeftRight, X } from 'lucide-react';
import { Link } from 'react-router';
import type { ComparedRun } from '../../api/types';
import { Tag } from '../../components/badge';
import { Button, IconButton } from '../../components/button';
import { Metric } from '../../components/panel';
import { ReplayMark } from '../../components/replay-mark';
import { Text } from '../../components/text';
import { Time } from '../../components/time';
import { Verdict } from '../../components/verdict';
import {
  formatCost,
  formatCount,
  formatDuration,
  formatPercent,
  formatSigned,
  shortCommit,
} from '../../lib/format';
import { summaryMark } from '../../lib/traffic';
import { LETTERS, RunLetter, runInSentence } from './run-letter';

interface ComparedRunsProps {
  runs: ComparedRun[];
  onChoose: (ids: string[]) => void;
  /** Opens the run picker for a place. */
  onChange: (place: number) => void;
}

export function ComparedRuns({ runs, onChoose, onChange }: ComparedRunsProps) {
  const ids = runs.map((run) => run.id);
  const compareAgainst = (place: number) =>
    onChoose([ids[place] ?? '', ...ids.filter((_, other) => other !== place)]);
  return (
    <ul
      className={`grid gap-3 ${runs.length > 2 ? 'lg:grid-cols-3' : 'md:grid-cols-2'}`}
      aria-label="Compared runs"
    >
      {runs.map((run, place) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: a run may be compared with itself
          key={`${run.id} ${place}`}
          className="@container min-w-0 rounded-lg border border-line bg-surface p-4"
        >
          <div className="flex items-start gap-2">
            <RunLetter place={place} />
            <div className="min-w-0 grow">
              <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
                <Link
                  to={`/runs/${encodeURIComponent(run.id)}`}
                  className="relative truncate font-semibold hover:underline"
                >
                  <Text>{run.name}</Text> <span className="sr-only">, run </span>
                  <code className="font-mono font-normal text-muted text-xs">{run.id.slice(0, 12)}</code>
                </Link>
                <Verdict verdict={verdictOf(run)} />
              </p>
              <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-xs">
                <Time timestamp={run.timestamp} />
                {typeof run.gitCommit === 'string' && (
                  <code className="font-mono">{shortCommit(run.gitCommit)}</code>
                )}
                {run.tags.map((tag) => (
                  <Tag key={tag}>{tag}</Tag>
                ))}
              </p>
            </div>
            <div className="-my-1.5 -mr-2 flex shrink-0">
              {place > 0 && (
                <IconButton
                  label={`Use run ${LETTERS[place]} as run A`}
                  onClick={() => compareAgainst(place)}
                >
                  <ArrowLeftRight />
                </IconButton>
              )}
              <Button
                look="bare"
                onClick={() => onChange(place)}
                aria-label={`Change ${runInSentence(place)}`}
              >
                Change
              </Button>
              {runs.length > 2 && (
                <IconButton
                  label={`Remove ${runInSentence(place)}`}
                  onClick={() => onChoose(ids.filter((_, other) => other !== place))}
                >
                  <X />
                </IconButton>
              )}
            </div>
          </div>
          <Metrics run={run} base={place === 0 ? undefined : runs[0]} />
        </li>
      ))}
    </ul>
  );
}

const verdictOf = ({ partial, passed, summary }: ComparedRun) => {
  if (partial) return 'partial';
  if (errorCount({ summary }) > 0) return 'error';
  return passed ? 'passed' : 'failed';
};

const errorCount = ({ summary }: Pick<ComparedRun, 'summary'>) => summary.failedItems + summary.evalErrors;

const passRate = ({ summary }: ComparedRun) =>
  summary.totalItems === 0 ? 0 : summary.passedItems / summary.totalItems;

/** The key metrics of a run, and their change vs. run A. */
function Metrics({ run, base }: { run: ComparedRun; base?: ComparedRun }) {
  const { summary } = run;
  const errors = errorCount(run);
  const change = (metric: (run: ComparedRun) => number | null | undefined) => {
    const [now, before] = [metric(run), base && metric(base)];
    if (typeof now !== 'number' || typeof before !== 'number' || before === 0) return undefined;
    return now === before ? 'no change' : `${formatSigned((100 * (now - before)) / before, 1)}%`;
  };
  const mark = summaryMark(summary);
  const marked = (note: string | undefined) =>
    mark === undefined ? (
      note
    ) : (
      <>
        {note} <ReplayMark mark={mark} />
      </>
    );
  return (
    <dl className="mt-3 grid grid-cols-3 gap-x-4 gap-y-3 @lg:grid-cols-6">
      <Metric
        name="Pass rate"
        note={base && `${formatSigned(100 * (passRate(run) - passRate(base)), 1)} points`}
      >
        {formatPercent(passRate(run))}
      </Metric>
      <Metric name="Items" note={`${formatCount(summary.passedItems)} passed`}>
        {formatCount(summary.totalItems)}
      </Metric>
      <Metric name="Errors" note={base && formatSigned(errors - errorCount(base), 0)}>
        {formatCount(errors)}
      </Metric>
      <Metric name="Mean latency" note={marked(change((one) => one.summary.avgLatencyMs))}>
        {formatDuration(summary.avgLatencyMs)}
      </Metric>
      <Metric name="Tokens" note={change((one) => one.summary.totalTokens)}>
        {typeof summary.totalTokens === 'number' ? formatCount(summary.totalTokens) : '–'}
      </Metric>
      <Metric name="Agent cost" note={marked(change((one) => one.summary.estimatedCost))}>
        {typeof summary.estimatedCost === 'number' ? formatCost(summary.estimatedCost) : '–'}
      </Metric>
    </dl>
  );
}
