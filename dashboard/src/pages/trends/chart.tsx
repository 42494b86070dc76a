// Figures of runs as lines over time, drawn by Recharts.
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
import type { ThresholdLine } from '../../api/types';
import { shortCommit } from '../../lib/format';
import type { Axis } from './parameters';
import { PointShape } from './point-shape';
import { PointTooltip } from './point-tooltip';
import type { PlottedRun, Series } from './series';

export interface ChartProps {
  /** What it shows, for those who do not see it. */
  label: string;
  runs: PlottedRun[];
  series: Series[];
  thresholds: ThresholdLine[];
  format: (value: number) => string;
  formatChange: (value: number) => string;
  /** The least and the most that the axis has, where the figures do not say. */
  domain: [number | 'auto', number | 'auto'];
  /** Whether its figures are whole numbers. */
  isCount?: boolean;
  axis: Axis;
  /** Where the axis is marked; evenly, where it is not given. */
  ticks?: number[];
  height: number;
  /** The run that is pointed at, here or elsewhere. */
  active: string | undefined;
  onActive: (id: string | undefined) => void;
  onOpen: (id: string) => void;
}

/** With more runs than this, only those are marked by a point that did not pass. */
const MAX_POINTS = 80;

const AXIS = { stroke: 'var(--line)', tick: { fill: 'var(--muted)', fontSize: 11 }, tickLine: false };

export default function Chart(props: ChartProps) {
  const { label, runs, series, thresholds, format, formatChange, domain, ticks, height } = props;
  const { axis, isCount = false, active, onActive, onOpen } = props;
  const runsByX = new Map(runs.map((place) => [place.x, place]));
  const activeX = runs.find(({ point }) => point.id === active)?.x;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the chart in it takes the focus, and moves through its points by arrows
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
              <Tick x={Number(x)} y={Number(y)} place={runsByX.get(Number(payload.value))} />
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
                    value: 'other data',
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
              dataKey={(place: PlottedRun) => value(place.point) ?? null}
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
              const place = runsByX.get(Number(label));
              if (!active || place === undefined) return null;
              return <PointTooltip {...{ place, series, format, formatChange }} />;
            }}
          />
          <ActiveRunTracker byX={runsByX} onActive={onActive} />
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
}

/** Tells which run is pointed at, by the mouse or by the keyboard. */
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

function Point({ x, y, run: place, colour, isMany }: PointProps) {
  if (x === undefined || y === undefined || place === undefined || Number.isNaN(y)) return null;
  const { verdict } = place.point;
  if (isMany && verdict === 'passed') return null;
  return <PointShape verdict={verdict} x={x} y={y} colour={colour} />;
}

/** The day of a run, and below it its commit. */
function Tick({ x, y, place }: { x: number; y: number; place: PlottedRun | undefined }) {
  if (place === undefined) return null;
  const { timestamp, gitCommit } = place.point;
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
