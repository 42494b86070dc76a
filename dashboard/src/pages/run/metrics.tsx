// The key metrics of a run in one row.
import clsx from 'clsx';
import type { ReactNode } from 'react';
import type { Overview } from '../../api/types';
import { ReplayMark } from '../../components/replay-mark';
import { formatUserCost } from '../../lib/conversation';
import { formatCost, formatCount, formatDuration, pluralize } from '../../lib/format';
import { summaryMark } from '../../lib/traffic';

export function Metrics({ overview }: { overview: Overview }) {
  const { run } = overview;
  const { summary, ciStatus } = run;
  const thresholds = ciStatus?.thresholds ?? [];
  const mark = <ReplayMark mark={summaryMark(summary)} />;
  const countFindings = (finding: string) =>
    thresholds.filter((threshold) => threshold.finding === finding).length;
  const inconclusive = countFindings('inconclusive');
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 xl:grid-cols-6">
      <MetricCell name="Items at their pass marks" note={`of ${formatCount(overview.finishedItems)}`}>
        {formatCount(overview.states.passed)}
      </MetricCell>
      <MetricCell
        name="Thresholds met"
        note={
          thresholds.length > 0
            ? `of ${thresholds.length}${inconclusive > 0 ? `, ${inconclusive} inconclusive` : ''}`
            : run.config.thresholds?.length
              ? 'not evaluated'
              : 'none set'
        }
        tone={ciStatus?.passed === false ? 'text-bad' : undefined}
      >
        {thresholds.length > 0 ? countFindings('met') : '–'}
      </MetricCell>
      <MetricCell
        name="Errors"
        note={errorsNote(overview)}
        tone={errorCount(overview) > 0 ? 'text-bad' : undefined}
      >
        {formatCount(errorCount(overview))}
      </MetricCell>
      <MetricCell
        name="Below pass mark"
        note={`of ${formatCount(overview.finishedItems)}`}
        tone={overview.states.low > 0 ? 'text-warn' : undefined}
      >
        {formatCount(overview.states.low)}
      </MetricCell>
      <MetricCell
        name={summary.latency ? 'Median latency' : 'Mean latency'}
        note={summary.latency ? `p95 ${formatDuration(summary.latency.p95)}` : 'per item'}
        mark={mark}
      >
        {formatDuration(summary.latency?.p50 ?? summary.avgLatencyMs)}
      </MetricCell>
      <MetricCell name="Agent cost" note={costNote(overview)} mark={mark}>
        {summary.estimatedCost != null ? formatCost(summary.estimatedCost) : '–'}
      </MetricCell>
    </dl>
  );
}

interface MetricCellProps {
  name: string;
  note: string;
  tone?: string;
  mark?: ReactNode;
  children: ReactNode;
}

function MetricCell({ name, note, tone, mark, children }: MetricCellProps) {
  return (
    <div className="min-w-0 bg-surface px-4 py-3">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-1 flex flex-wrap items-baseline gap-x-2">
        <span className={clsx('font-semibold text-lg tabular-nums', tone)}>{children}</span>
        <span className="text-muted text-xs">{note}</span>
        {mark}
      </dd>
    </div>
  );
}

const summaryErrorCount = ({ run: { summary } }: Overview) => Object.keys(summary.summaryErrors ?? {}).length;

/** Items whose agent failed, scoring errors, and failed summary functions. Items below the pass mark are not errors. */
const errorCount = (overview: Overview) =>
  overview.run.summary.failedItems + overview.run.summary.evalErrors + summaryErrorCount(overview);

function errorsNote(overview: Overview): string {
  const { summary } = overview.run;
  const summaryErrors = summaryErrorCount(overview);
  const failed = summary.failedItems - summary.timeouts;
  const parts = [
    failed > 0 && pluralize(failed, 'agent error'),
    summary.timeouts > 0 && pluralize(summary.timeouts, 'timeout'),
    summary.evalErrors > 0 && pluralize(summary.evalErrors, 'scoring error'),
    summaryErrors > 0 && pluralize(summaryErrors, 'summary error'),
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join(', ') : 'none';
}

function costNote({ run: { summary } }: Overview): string {
  const parts: string[] = [];
  if (summary.judgeCost != null) parts.push(`judge cost ${formatCost(summary.judgeCost)}`);
  if (summary.simulatedUsers != null) parts.push(`user cost ${formatUserCost(summary.simulatedUsers)}`);
  if (parts.length > 0) return parts.join(', ');
  if (summary.estimatedCost == null)
    return summary.totalTokens == null ? 'no tokens reported' : 'price unknown';
  return 'no judge calls';
}
