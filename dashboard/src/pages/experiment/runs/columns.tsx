// The columns of an experiment's runs.
import { GitCompareArrows } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { RunRow } from '../../../api/types';
import { ReplayIcon } from '../../../components/replay-mark';
import type { SortOrder } from '../../../components/sort-button';
import { DateTime } from '../../../components/time';
import { comparisonUrl, runUrl } from '../../../lib/addresses';
import { costFormat, formatDateTime, formatDuration, formatScore, formatSigned } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { replayMark } from '../../../lib/traffic';
import {
  Commit,
  costsOf,
  ItemCounts,
  MissingValue,
  Origin,
  Replayed,
  Tags,
  TotalCost,
  VerdictCell,
} from '../../runs/cells';
import { passedShare, SEVERITY } from '../../runs/order';

/** What a cell needs to know beside its run. */
export interface CellContext {
  /** The run before. */
  previous: RunRow | undefined;
  changeOf: (run: RunRow, evaluator: string) => number | undefined;
}

export interface RunColumn {
  /** Its name in the URL. */
  key: string;
  name: string;
  /** In pixels. */
  width: number;
  isNumber?: boolean;
  /** Absent if it cannot be sorted. */
  value?: (run: RunRow) => number | string | null | undefined;
  /** The order that is chosen first. */
  first?: SortOrder;
  cell: (run: RunRow, context: CellContext) => ReactNode;
}

/** The evaluators of the runs, in the order of the latest run. */
const evaluatorsOf = (runs: RunRow[]) => [...new Set(runs.flatMap((run) => Object.keys(run.avgScores)))];

export function columnsOf(runs: RunRow[]): RunColumn[] {
  const hasBranches = runs.some(({ gitBranch }) => gitBranch != null);
  const formatUsd = costFormat(runs.map(costsOf).flatMap(({ agent, total }) => [agent, total]));
  return [
    {
      key: 'started',
      name: 'Run',
      width: 236,
      value: ({ timestamp }) => timestamp,
      first: 'desc',
      cell: (run, context) => <RunCell run={run} context={context} />,
    },
    {
      key: 'verdict',
      name: 'Verdict',
      width: 108,
      value: ({ verdict }) => SEVERITY[verdict],
      first: 'desc',
      cell: (run) => <VerdictCell run={run} />,
    },
    ...evaluatorsOf(runs).map(scoreColumn),
    {
      key: 'items',
      name: 'At pass marks',
      width: 124,
      isNumber: true,
      value: passedShare,
      first: 'asc',
      cell: (run) => <ItemCounts run={run} />,
    },
    {
      key: 'agent-cost',
      name: 'Agent cost',
      width: 108,
      isNumber: true,
      value: (run) => costsOf(run).agent,
      cell: (run) => <AgentCost run={run} format={formatUsd} />,
    },
    {
      key: 'total-cost',
      name: 'Total cost',
      width: 104,
      isNumber: true,
      value: (run) => costsOf(run).total,
      cell: (run) => <TotalCost run={run} format={formatUsd} />,
    },
    {
      key: 'latency',
      name: 'Mean latency',
      width: 124,
      isNumber: true,
      value: ({ avgLatencyMs }) => avgLatencyMs,
      cell: (run) => (
        <>
          <ReplayIcon mark={replayMark(run.replayedItems, run.totalItems)} />
          {formatDuration(run.avgLatencyMs)}
        </>
      ),
    },
    {
      key: 'duration',
      name: 'Duration',
      width: 96,
      isNumber: true,
      value: ({ durationMs }) => durationMs,
      cell: (run) => formatDuration(run.durationMs),
    },
    { key: 'commit', name: 'Commit', width: hasBranches ? 152 : 112, cell: (run) => <Commit run={run} /> },
  ];
}

const scoreColumn = (evaluator: string): RunColumn => ({
  key: `score:${evaluator}`,
  name: evaluator,
  width: 120,
  isNumber: true,
  value: (run) => getOwn(run.avgScores, evaluator),
  first: 'asc',
  cell: (run, { changeOf }) => {
    const score = getOwn(run.avgScores, evaluator);
    const change = changeOf(run, evaluator);
    if (score === undefined) return <MissingValue label="no score" />;
    return (
      <>
        {formatScore(score)}
        <span className="ml-2 inline-block min-w-10 text-muted text-xs">
          {change === undefined ? '' : formatSigned(change)}
        </span>
      </>
    );
  },
});

function RunCell({ run, context }: { run: RunRow; context: CellContext }) {
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span className="flex items-center gap-2">
        <RunDate run={run} />
        <CompareWithPrevious run={run} previous={context.previous} />
      </span>
      <RunFacts run={run} />
    </span>
  );
}

/** A link to the run, with its start. Shortcut keys move between these links. */
export function RunDate({ run }: { run: RunRow }) {
  return (
    <Link to={runUrl(run.id)} data-row={run.id} className="font-medium hover:text-accent hover:underline">
      <DateTime timestamp={run.timestamp} />
    </Link>
  );
}

/** What tells a run from others, in one line. */
export function RunFacts({ run }: { run: RunRow }) {
  return (
    <span className="flex h-5.5 min-w-0 shrink-0 items-center gap-2 overflow-hidden">
      <span className="shrink-0 font-mono text-muted text-xs">{run.id}</span>
      <Origin run={run} />
      <Replayed run={run} />
      <Tags tags={run.tags} />
    </span>
  );
}

function AgentCost({ run, format }: { run: RunRow; format: (usd: number) => string }) {
  const { agent } = costsOf(run);
  if (agent === undefined) return <MissingValue label="unknown" />;
  return (
    <>
      <ReplayIcon mark={replayMark(run.replayedItems, run.totalItems)} />
      {format(agent)}
    </>
  );
}

/** A link to what regressed since the run before. */
export function CompareWithPrevious({ run, previous }: { run: RunRow; previous: RunRow | undefined }) {
  if (previous === undefined) return null;
  const label = `Compare with the previous run of ${formatDateTime(previous.timestamp)}`;
  return (
    <Link
      to={comparisonUrl(run.id, [previous.id], 'regressed')}
      aria-label={label}
      title={`${label}: what regressed`}
      className="ml-auto grid size-6 shrink-0 place-items-center rounded text-accent hover:bg-accent-soft"
    >
      <GitCompareArrows className="size-4" aria-hidden="true" />
    </Link>
  );
}
