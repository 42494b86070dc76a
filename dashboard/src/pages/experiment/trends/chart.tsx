// Metrics of runs as lines over time, drawn with Recharts.
import { useEffect } from 'react';
import {
  CartesianGrid,
  Line,
  LineChart,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  useActiveTooltipLabel,
  useIsTooltipActive,
  XAxis,
  YAxis,
} from 'recharts';
import type { ThresholdLine } from '../../../api/types';
import { shortCommit } from '../../../lib/format';
import type { Axis } from './parameters';
import { PointShape } from './point-shape';
import { PointTooltip } from './point-tooltip';
import type { PlottedRun, Series } from './series';

export interface ChartProps {
  /** The accessible name. */
  label: string;
  runs: PlottedRun[];
  series: Series[];
  thresholds: ThresholdLine[];
  format: (value: number) => string;
  formatChange: (value: number) => string;
  /** The domain of the axis; `auto` follows the data. */
  domain: [number | 'auto', number | 'auto'];
  /** Whether the values are integers. */
  isCount?: boolean;
  axis: Axis;
  /** The ticks of the axis; evenly spaced by default. */
  ticks?: number[];
  height: number;
  /** The highlighted run, selected in any chart or the table. */
  active: string | undefined;
  onActive: (id: string | undefined) => void;
  onOpen: (id: string) => void;
}

/** With more runs, only runs that did not pass are drawn as points. */
const MAX_POINTS = 80;

const AXIS = { stroke: 'var(--line)', tick: { fill: 'var(--muted)', fontSize: 11 }, tickLine: false };

export default function Chart(props: ChartProps) {
  const { label, runs, series, thresholds, format, formatChange, domain, ticks, height } = props;
  const { axis, isCount = false, active, onActive, onOpen } = props;
  const runsByX = new Map(runs.map((run) => [run.x, run]));
  const activeX = runs.find(({ point }) => point.id === active)?.x;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the chart inside is focusable and handles the arrow keys
    <div
      className="cursor-pointer [&_.recharts-surface]:outline-offset-2"
      onKeyDown={(event) => event.key === 'Enter' && active !== undefined && onOpen(active)}
    >
      <ResponsiveContainer width="100%" height={height}>
        <LineChart
          data={runs}
          margin={{ top: 14, right: 16, bottom: 4, left: 0 }}
          title={label}
          onClick={({ activeLabel }) => {
            const id = runsByX.get(Number(activeLabel))?.point.id;
            if (id !== undefined) onOpen(id);
          }}
        >
          <CartesianGrid stroke="var(--line)" strokeDasharray="2 4" vertical={false} />
          <XAxis
            {...AXIS}
            dataKey="x"
            type="number"
            domain={['dataMin', 'dataMax']}
            ticks={runs.map(({ x }) => x)}
            interval={axis === 'time' ? 'preserveStart' : 'equidistantPreserveStart'}
            minTickGap={16}
            height={38}
            padding={{ left: 16, right: 16 }}
            tickFormatter={() => '00000000'}
            tick={({ x, y, payload }) => (
              <Tick x={Number(x)} y={Number(y)} run={runsByX.get(Number(payload.value))} />
            )}
          />
          <YAxis
            {...AXIS}
            domain={domain}
            ticks={ticks}
            allowDecimals={!isCount}
            width={56}
            axisLine={false}
            tickFormatter={format}
          />
          {runs.map(
            ({ x, datasetChanged }) =>
              datasetChanged && (
                <ReferenceLine
                  key={x}
                  x={x}
                  stroke="var(--warn)"
                  strokeDasharray="1 3"
                  label={{
                    value: 'dataset changed',
                    position: 'insideTopLeft',
                    fill: 'var(--warn)',
                    fontSize: 10,
                    dy: -12,
                  }}
                />
              ),
          )}
          {thresholds.map(({ name, bound }) => (
            <ReferenceLine
              key={name}
              y={bound}
              stroke="var(--bad)"
              strokeDasharray="4 4"
              ifOverflow="extendDomain"
            />
          ))}
          {activeX !== undefined && <ReferenceLine x={activeX} stroke="var(--muted)" />}
          {series.map(({ name, colour, dash, value }) => (
            <Line
              key={name}
              name={name}
              dataKey={(run: PlottedRun) => value(run.point) ?? null}
              stroke={colour}
              strokeDasharray={dash}
              strokeWidth={1.75}
              connectNulls
              isAnimationActive={false}
              dot={({ cx, cy, payload }: { cx?: number; cy?: number; payload?: PlottedRun }) => (
                <Point
                  key={payload?.point.id}
                  x={cx}
                  y={cy}
                  run={payload}
                  colour={colour}
                  isMany={runs.length > MAX_POINTS}
                />
              )}
              activeDot={{ r: 5, fill: colour, stroke: 'var(--surface)' }}
            />
          ))}
          <Tooltip
            isAnimationActive={false}
            cursor={false}
            content={({ active, label }) => {
              const run = runsByX.get(Number(label));
              if (!active || run === undefined) return null;
              return <PointTooltip {...{ run: run, series, format, formatChange }} />;
            }}
          />
          <ActiveRunTracker byX={runsByX} onActive={onActive} />
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
}

/** Reports the run selected by mouse or keyboard. */
function ActiveRunTracker({
  byX,
  onActive,
}: {
  byX: Map<number, PlottedRun>;
  onActive: ChartProps['onActive'];
}) {
  const isActive = useIsTooltipActive();
  const label = useActiveTooltipLabel();
  const id = isActive ? byX.get(Number(label))?.point.id : undefined;
  useEffect(() => {
    onActive(id);
  }, [id, onActive]);
  return null;
}

interface PointProps {
  x: number | undefined;
  y: number | undefined;
  run: PlottedRun | undefined;
  colour: string;
  isMany: boolean;
}

function Point({ x, y, run, colour, isMany }: PointProps) {
  if (x === undefined || y === undefined || run === undefined || Number.isNaN(y)) return null;
  const { verdict } = run.point;
  if (isMany && verdict === 'passed') return null;
  return <PointShape verdict={verdict} x={x} y={y} colour={colour} />;
}

/** The date of a run, with its commit below. */
function Tick({ x, y, run }: { x: number; y: number; run: PlottedRun | undefined }) {
  if (run === undefined) return null;
  const { timestamp, gitCommit } = run.point;
  const day = new Date(timestamp).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return (
    <text x={x} y={y + 8} textAnchor="middle" fontSize="11" fill="var(--muted)">
      <tspan x={x}>{day}</tspan>
      {typeof gitCommit === 'string' && (
        <tspan x={x} dy="14" fontFamily="var(--font-mono, monospace)" fontSize="10.5">
          {shortCommit(gitCommit)}
        </tspan>
      )}
    </text>
  );
}
