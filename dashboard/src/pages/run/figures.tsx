// The figures by which a run is known, in a line.
import clsx from 'clsx';
import type { ReactNode } from 'react';
import type { Overview } from '../../api/types';
import { cost, count, counted, duration } from '../../lib/format';

export function Figures({ overview }: { overview: Overview }) {
  const { run } = overview;
  const { summary, ciStatus } = run;
  const thresholds = ciStatus?.thresholds ?? [];
  const found = (finding: string) => thresholds.filter((threshold) => threshold.finding === finding).length;
  const open = found('inconclusive');
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 xl:grid-cols-6">
      <Cell name="Items at their pass marks" note={`of ${count(overview.finishedItems)}`}>
        {count(overview.states.passed)}
      </Cell>
      <Cell
        name="Thresholds met"
        note={
          thresholds.length > 0
            ? `of ${thresholds.length}${open > 0 ? `, ${open} inconclusive` : ''}`
            : run.config.thresholds?.length
              ? 'not evaluated'
              : 'none set'
        }
        tone={ciStatus?.passed === false ? 'text-bad' : undefined}
      >
        {thresholds.length > 0 ? found('met') : '–'}
      </Cell>
      <Cell name="Errors" note={errorsNote(overview)} tone={errors(overview) > 0 ? 'text-bad' : undefined}>
        {count(errors(overview))}
      </Cell>
      <Cell
        name="Below pass mark"
        note="items, by any evaluator"
        tone={overview.states.low > 0 ? 'text-warn' : undefined}
      >
        {count(overview.states.low)}
      </Cell>
      <Cell
        name="Latency, median"
        note={summary.latency ? `p95 ${duration(summary.latency.p95)}` : 'of the agent'}
      >
        {duration(summary.latency?.p50 ?? summary.avgLatencyMs)}
      </Cell>
      <Cell name="Cost of the agent" note={costNote(overview)}>
        {summary.estimatedCost != null ? cost(summary.estimatedCost) : '–'}
      </Cell>
    </dl>
  );
}

interface CellProps {
  name: string;
  note: string;
  tone?: string;
  children: ReactNode;
}

function Cell({ name, note, tone, children }: CellProps) {
  return (
    <div className="min-w-0 bg-surface px-4 py-3">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-1 flex flex-wrap items-baseline gap-x-2">
        <span className={clsx('font-semibold text-lg tabular-nums', tone)}>{children}</span>
        <span className="text-muted text-xs">{note}</span>
      </dd>
    </div>
  );
}

/** Items whose agent failed, and evaluations without a score: another thing than low scores. */
const errors = ({ run: { summary } }: Overview) => summary.failedItems + summary.evalErrors;

function errorsNote({ run: { summary } }: Overview): string {
  const failed = summary.failedItems - summary.timeouts;
  const parts = [
    failed > 0 && `${count(failed)} of the agent`,
    summary.timeouts > 0 && counted(summary.timeouts, 'timeout'),
    summary.evalErrors > 0 && `${count(summary.evalErrors)} of evaluators`,
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join(', ') : 'agent and evaluators';
}

function costNote({ run: { summary } }: Overview): string {
  if (summary.judgeCost != null) return `judges ${cost(summary.judgeCost)}`;
  if (summary.estimatedCost == null)
    return summary.totalTokens == null ? 'no tokens reported' : 'no price known';
  return 'no judges';
}
