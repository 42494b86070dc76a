// The runs in the charts as a table, latest first.
import clsx from 'clsx';
import { useState } from 'react';
import { Link } from 'react-router';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { Panel } from '../../components/panel';
import { ReplayIcon } from '../../components/replay-mark';
import { Text } from '../../components/text';
import { Verdict } from '../../components/verdict';
import {
  formatCost,
  formatCount,
  formatDateTime,
  formatDuration,
  formatScore,
  formatSigned,
  shortCommit,
} from '../../lib/format';
import { replayMark } from '../../lib/traffic';
import { changeFromPrevious, type PlottedRun, type Series } from './series';

/** The number of rows shown initially. */
const INITIAL_ROWS = 30;

interface TrendTableProps {
  runs: PlottedRun[];
  scores: Series[];
  active: string | undefined;
  onActive: (id: string | undefined) => void;
}

export function TrendTable({ runs, scores, active, onActive }: TrendTableProps) {
  const [isExpanded, setExpanded] = useState(false);
  const newest = runs.toReversed();
  const shown = isExpanded ? newest : newest.slice(0, INITIAL_ROWS);
  return (
    <Panel title="Runs">
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        aria-label="Runs in the charts"
        className="relative overflow-x-auto"
      >
        <table className="w-full text-left whitespace-nowrap tabular-nums">
          <thead className="text-muted text-xs">
            <tr>
              <Head>Started</Head>
              <Head>Verdict</Head>
              <Head>Commit</Head>
              {scores.map(({ name }) => (
                <Head key={name} isNumber>
                  <Text>{name}</Text>
                </Head>
              ))}
              <Head isNumber>Latency</Head>
              <Head isNumber>Tokens</Head>
              <Head isNumber>Agent cost</Head>
              <Head isNumber>Errors</Head>
            </tr>
          </thead>
          <tbody>
            {shown.map((run) => (
              <Row key={run.point.id} {...{ run, scores, onActive }} isActive={run.point.id === active} />
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < runs.length && (
        <Button className="mt-3" onClick={() => setExpanded(true)}>
          Show all {formatCount(runs.length)} runs
        </Button>
      )}
    </Panel>
  );
}

function Head({ children, isNumber = false }: { children: React.ReactNode; isNumber?: boolean }) {
  return (
    <th scope="col" className={clsx('px-2 py-2 font-medium first:pl-1', isNumber && 'text-right')}>
      {children}
    </th>
  );
}

interface RowProps {
  run: PlottedRun;
  scores: Series[];
  isActive: boolean;
  onActive: (id: string | undefined) => void;
}

const NUMBER = 'px-2 py-1.5 text-right';

function Row({ run, scores, isActive, onActive }: RowProps) {
  const { point, datasetChanged } = run;
  const mark = replayMark(point.replayedItems, point.totalItems);
  return (
    <tr
      data-active={isActive || undefined}
      className={clsx('border-line border-t', isActive ? 'bg-accent-soft' : 'hover:bg-sunken/60')}
      onMouseEnter={() => onActive(point.id)}
      onMouseLeave={() => onActive(undefined)}
      onFocus={() => onActive(point.id)}
      onBlur={() => onActive(undefined)}
    >
      <th scope="row" className="px-2 py-1.5 pl-1 font-normal">
        <Link to={`/runs/${encodeURIComponent(point.id)}`} className="font-medium hover:underline">
          {formatDateTime(point.timestamp)}
        </Link>
        {datasetChanged && (
          <span className="ml-2">
            <Badge tone="warn">Dataset changed</Badge>
          </span>
        )}
      </th>
      <td className="px-2 py-1.5">
        <Verdict verdict={point.verdict} />
      </td>
      <td className="px-2 py-1.5 text-muted text-xs">
        {typeof point.gitCommit === 'string' && (
          <code className="font-mono">{shortCommit(point.gitCommit)}</code>
        )}
        {point.gitDirty === true && ', uncommitted changes'}
      </td>
      {scores.map((series) => (
        <ScoreCell key={series.name} series={series} run={run} />
      ))}
      <td className={NUMBER}>
        <ReplayIcon mark={mark} />
        {formatDuration(point.avgLatencyMs)}
      </td>
      <td className={NUMBER}>
        {typeof point.totalTokens === 'number' ? formatCount(point.totalTokens) : '–'}
      </td>
      <td className={NUMBER}>
        {typeof point.cost === 'number' && <ReplayIcon mark={mark} />}
        {typeof point.cost === 'number' ? formatCost(point.cost) : '–'}
      </td>
      <td className={clsx(NUMBER, point.errors > 0 && 'font-medium text-bad')}>
        {formatCount(point.errors)}
      </td>
    </tr>
  );
}

/** A score and its change since the previous run. */
function ScoreCell({ series, run }: { series: Series; run: PlottedRun }) {
  const value = series.value(run.point);
  const difference = changeFromPrevious(series, run);
  if (typeof value !== 'number') return <td className={clsx(NUMBER, 'text-muted')}>–</td>;
  return (
    <td className={NUMBER}>
      {formatScore(value)}
      <span className="ml-2 inline-block w-12 text-muted text-xs">
        {difference === undefined ? '' : formatSigned(difference)}
      </span>
    </td>
  );
}
