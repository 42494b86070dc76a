// The key figures of a run in one row. Each opens its details.
import clsx from 'clsx';
import type { ReactNode } from 'react';
import type { Overview, StateCounts } from '../../api/types';
import { Popover } from '../../components/popover';
import { ReplayMark } from '../../components/replay-mark';
import { costFormat, formatCount, formatDateTime, formatDuration, pluralize } from '../../lib/format';
import { itemCounts } from '../../lib/report';
import { judgeMark, REPLAYED_JUDGES, summaryMark } from '../../lib/traffic';
import { costsOf } from './costs';
import { Facts } from './facts';
import { type ItemState, STATE_LABELS, stateNames } from './items/filter';
import { thresholdCounts } from './sentence';
import { ThresholdTable } from './thresholds';
import { CostTotals, PercentileTable } from './usage';

interface StripProps {
  overview: Overview;
  /** Shows the items in a state. */
  onState: (state: ItemState) => void;
  /** The button that opens the details. */
  children: ReactNode;
}

export function Strip({ overview, onState, children }: StripProps) {
  const { run, states } = overview;
  const mark = <ReplayMark mark={summaryMark(run.summary)} />;
  const { passed, below, errors } = itemCounts(overview);
  return (
    <section
      aria-label="Key figures"
      className="relative flex shrink-0 items-stretch overflow-x-auto border-line border-y bg-surface"
    >
      <Cell
        name="Items"
        value={formatCount(overview.finishedItems)}
        note={
          <>
            {formatCount(passed)} at pass marks,{' '}
            <span className={clsx(below > 0 && 'text-warn')}>{formatCount(below)} below</span>,{' '}
            <span className={clsx(errors > 0 && 'text-bad')}>{pluralize(errors, 'error')}</span>
          </>
        }
      >
        <StateList states={states} onState={onState} />
      </Cell>
      <ThresholdsCell overview={overview} />
      <CostCells overview={overview} mark={mark} />
      <Cell
        name={run.summary.latency ? 'Median latency' : 'Mean latency'}
        value={formatDuration(run.summary.latency?.p50 ?? run.summary.avgLatencyMs)}
        note={
          <>
            {run.summary.latency ? `p95 ${formatDuration(run.summary.latency.p95)}` : 'per item'} {mark}
          </>
        }
      >
        <PercentileTable overview={overview} />
      </Cell>
      <Cell
        name="Duration"
        value={formatDuration(run.summary.totalDurationMs)}
        note={formatDateTime(run.timestamp)}
      >
        <Facts run={run} />
      </Cell>
      <div className="ml-auto flex items-center px-3">{children}</div>
    </section>
  );
}

interface CellProps {
  name: string;
  value: ReactNode;
  note: ReactNode;
  tone?: string;
  /** Shown on a click. */
  children: ReactNode;
}

function Cell({ name, value, note, tone, children }: CellProps) {
  return (
    <Popover
      label={name}
      trigger={
        <button
          type="button"
          className="shrink-0 border-line border-r px-4 py-1.5 text-left -outline-offset-2 hover:bg-sunken data-popup-open:bg-sunken"
        >
          <span className="block text-muted text-xs">{name}</span>
          <span className={clsx('block font-semibold text-base/6 tabular-nums', tone)}>{value}</span>
          <span className="block text-muted text-xs whitespace-nowrap tabular-nums">{note}</span>
        </button>
      }
    >
      <div className="max-h-[60dvh] w-96 max-w-full">{children}</div>
    </Popover>
  );
}

function StateList({ states, onState }: { states: StateCounts; onState: (state: ItemState) => void }) {
  return (
    <ul aria-label="Items by state">
      {stateNames
        .filter((state) => states[state] > 0)
        .map((state) => (
          <li key={state}>
            <button
              type="button"
              onClick={() => onState(state)}
              className="flex w-full justify-between gap-6 rounded px-2 py-1 hover:bg-sunken"
            >
              <span>{STATE_LABELS[state]}</span>
              <span className="tabular-nums">{formatCount(states[state])}</span>
            </button>
          </li>
        ))}
    </ul>
  );
}

function ThresholdsCell({ overview: { run } }: { overview: Overview }) {
  const { all, met, missed, inconclusive } = thresholdCounts(run);
  const notes = [
    missed > 0 ? `${missed} missed` : undefined,
    inconclusive > 0 ? `${inconclusive} inconclusive` : undefined,
  ].filter((note) => note !== undefined);
  const none = run.config.thresholds?.length ? 'not evaluated' : run.config.strict ? 'strict' : 'none set';
  return (
    <Cell
      name="Thresholds"
      value={all > 0 ? `${met} of ${all} met` : '–'}
      tone={missed > 0 ? 'text-bad' : undefined}
      note={all === 0 ? none : notes.length > 0 ? notes.join(', ') : 'none missed'}
    >
      <ThresholdTable run={run} />
    </Cell>
  );
}

function CostCells({ overview, mark }: { overview: Overview; mark: ReactNode }) {
  const { summary } = overview.run;
  const costs = costsOf(summary);
  const format = costFormat(costs.all);
  const cells: { name: string; cost: number | undefined; note: ReactNode }[] = [
    { name: 'Agent cost', cost: costs.agent, note: <>total {mark}</> },
  ];
  if (summary.judgeCalls != null) {
    const replayed = <ReplayMark mark={judgeMark(summary)} explanation={REPLAYED_JUDGES} />;
    cells.push({ name: 'Judge cost', cost: costs.judge, note: <>total {replayed}</> });
  }
  if (summary.simulatedUsers != null) cells.push({ name: 'User cost', cost: costs.user, note: 'total' });
  if (costs.hasSeveral)
    cells.push({
      name: 'Total cost',
      cost: costs.total,
      note: costs.isComplete ? 'sum of all costs' : 'known costs only',
    });
  return cells.map(({ name, cost, note }) => (
    <Cell
      key={name}
      name={name}
      value={cost === undefined ? '–' : format(cost)}
      note={cost === undefined ? unknownCost(name, overview) : note}
    >
      <CostTotals overview={overview} />
    </Cell>
  ));
}

function unknownCost(name: string, { run: { summary } }: Overview): string {
  return name === 'Agent cost' && summary.totalTokens == null ? 'no tokens reported' : 'price unknown';
}
