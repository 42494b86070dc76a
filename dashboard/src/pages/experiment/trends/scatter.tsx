// Runs as points that can be focused, drawn with Recharts.
import { type KeyboardEvent, useRef } from 'react';
import {
  CartesianGrid,
  ResponsiveContainer,
  Scatter,
  ScatterChart,
  useXAxisScale,
  useYAxisScale,
  XAxis,
  YAxis,
} from 'recharts';
import { formatDateTime } from '../../../lib/format';
import { escapeHidden } from '../../../lib/texts';
import { PointShape } from './point-shape';
import type { Metric, ScatterPoint } from './scatter-axes';
import { lowestTick } from './series';

interface ScatterProps {
  points: ScatterPoint[];
  axes: [Metric, Metric];
  active: string | undefined;
  onActive: (id: string | undefined) => void;
  onOpen: (id: string) => void;
}

const HEIGHT = 320;
const AXIS = { stroke: 'var(--line)', tick: { fill: 'var(--muted)', fontSize: 11 }, tickLine: false };

/** Scores have the scale of the lines: up to 1, from the tenth below the lowest. */
function domainOf({ isScore }: Metric, values: number[]): [number | 'auto', number | 'auto'] {
  if (!isScore) return ['auto', 'auto'];
  return [lowestTick(values), 1];
}

const labelOf = (name: string) => ({ value: escapeHidden(name), fill: 'var(--muted)', fontSize: 11 });

/** How far each key moves, in the order of time. */
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, ArrowUp: 1 };

export default function RunScatterChart({ points, axes, active, onActive, onOpen }: ScatterProps) {
  const box = useRef<HTMLDivElement>(null);
  const [across, up] = axes;
  // Tab reaches one point; the arrow keys move to the others.
  const reachable = points.some(({ point }) => point.id === active) ? active : points.at(-1)?.point.id;
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && active !== undefined) return onOpen(active);
    const step = STEPS[event.key];
    const place = points.findIndex(({ point }) => point.id === reachable);
    const next = points[place + (step ?? 0)]?.point.id;
    if (step === undefined || next === undefined) return;
    event.preventDefault();
    onActive(next);
    box.current?.querySelector<SVGElement>(`[data-point="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys that bubble from the points
    <div ref={box} onKeyDown={move}>
      <ResponsiveContainer width="100%" height={HEIGHT}>
        <ScatterChart
          margin={{ top: 12, right: 24, bottom: 20, left: 8 }}
          accessibilityLayer={false}
          title={`${escapeHidden(up.name)} and ${escapeHidden(across.name)} of each run`}
        >
          <CartesianGrid stroke="var(--line)" strokeDasharray="2 4" />
          <XAxis
            {...AXIS}
            dataKey="x"
            type="number"
            domain={domainOf(
              across,
              points.map(({ x }) => x),
            )}
            tickFormatter={across.format}
            minTickGap={24}
            label={{ ...labelOf(across.name), position: 'insideBottom', offset: -12 }}
          />
          <YAxis
            {...AXIS}
            dataKey="y"
            type="number"
            domain={domainOf(
              up,
              points.map(({ y }) => y),
            )}
            tickFormatter={up.format}
            width={72}
            axisLine={false}
            label={{
              ...labelOf(up.name),
              position: 'insideLeft',
              angle: -90,
              style: { textAnchor: 'middle' },
            }}
          />
          {/* Determines the scales only: Recharts replaces its own points, which then lose the focus. */}
          <Scatter data={points} isAnimationActive={false} shape={() => <g />} />
          <RunPoints {...{ points, axes, active, reachable, onActive, onOpen }} />
        </ScatterChart>
      </ResponsiveContainer>
    </div>
  );
}

/** The points, in the scales of the chart around them. */
function RunPoints({ points, ...rest }: ScatterProps & { reachable: string | undefined }) {
  const [toX, toY] = [useXAxisScale(), useYAxisScale()];
  return points.map((run) => {
    const [x, y] = [toX?.(run.x), toY?.(run.y)];
    if (x === undefined || y === undefined) return null;
    return <RunPoint key={run.point.id} {...rest} run={run} x={x} y={y} />;
  });
}

interface RunPointProps extends Omit<ScatterProps, 'points'> {
  run: ScatterPoint;
  x: number;
  y: number;
  /** The run that Tab reaches. */
  reachable: string | undefined;
}

function RunPoint({ run, x, y, axes, active, reachable, onActive, onOpen }: RunPointProps) {
  const { point } = run;
  const [across, up] = axes;
  const metrics = `${escapeHidden(up.name)} ${up.format(run.y)}, ${escapeHidden(across.name)} ${across.format(run.x)}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a link or button of HTML cannot be drawn in a chart
    <g
      role="link"
      tabIndex={point.id === reachable ? 0 : -1}
      data-point={point.id}
      aria-label={`Run of ${formatDateTime(point.timestamp)}, ${point.verdict}: ${metrics}`}
      className="cursor-pointer"
      onClick={() => onOpen(point.id)}
      onMouseEnter={() => onActive(point.id)}
      onMouseLeave={() => onActive(undefined)}
      onFocus={() => onActive(point.id)}
    >
      {/* Easier to hit than the point itself. */}
      <circle cx={x} cy={y} r="11" fill={point.id === active ? 'var(--accent-soft)' : 'transparent'} />
      <PointShape verdict={point.verdict} x={x} y={y} colour="var(--series-1)" />
    </g>
  );
}
