// Draws score against cost: points with CI bars and labels, and the Pareto front as a line. Loaded on demand, since Recharts is large.
import { CartesianGrid, ErrorBar, ResponsiveContainer, Scatter, ScatterChart, XAxis, YAxis } from 'recharts';
import { costFormat } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { costTicks, GAP, type Label, placeLabels } from './labels';
import { frontOf, type Point } from './pareto';

const HEIGHT = 200;
const AXIS = { stroke: 'var(--line)', tick: { fill: 'var(--muted)', fontSize: 11 }, tickLine: false };
/** Longer labels are truncated. */
const MAX_LABEL_LENGTH = 18;

function shortLabel(label: string): string {
  const shown = escapeHidden(label);
  return shown.length > MAX_LABEL_LENGTH ? `${shown.slice(0, MAX_LABEL_LENGTH - 1)}…` : shown;
}

/** The ticks of the score axis, at least two: they enclose the CIs. */
function scoreTicks(points: Point[]): number[] {
  const low = Math.min(...points.map(({ score, ci95 }) => ci95?.low ?? score));
  const high = Math.max(...points.map(({ score, ci95 }) => ci95?.high ?? score));
  const steps = high - low > 0.25 ? 10 : 20;
  const first = Math.max(0, Math.ceil(low * steps) - 1);
  const last = Math.min(steps, Math.floor(high * steps) + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) / steps);
}

export default function Plot({ points }: { points: Point[] }) {
  const ticks = scoreTicks(points);
  const costs = costTicks(Math.max(...points.map(({ cost }) => cost)));
  const [low, high, maxCost] = [ticks[0] ?? 0, ticks.at(-1) ?? 1, costs.at(-1) ?? 1];
  const labels = placeLabels(points, ({ label }) => shortLabel(label), [maxCost, low, high]);
  const plotted = points.map((point) => ({
    ...point,
    placed: labels.get(point.id),
    error: point.ci95 ? [point.score - point.ci95.low, point.ci95.high - point.score] : [0, 0],
  }));
  return (
    <ResponsiveContainer width="100%" height={HEIGHT}>
      <ScatterChart margin={{ top: 16, right: 24, bottom: 20, left: 0 }} accessibilityLayer={false}>
        <CartesianGrid stroke="var(--line)" strokeDasharray="2 4" />
        <XAxis
          {...AXIS}
          dataKey="cost"
          type="number"
          domain={[0, maxCost]}
          ticks={costs}
          tickFormatter={costFormat(costs)}
          label={{
            value: 'Agent cost per 1,000 items',
            position: 'insideBottom',
            offset: -12,
            fill: 'var(--muted)',
            fontSize: 11,
          }}
        />
        <YAxis
          {...AXIS}
          dataKey="score"
          type="number"
          domain={[low, high]}
          ticks={ticks}
          width={48}
          axisLine={false}
          tickFormatter={(value: number) => value.toFixed(2)}
        />
        <Scatter
          data={frontOf(points)}
          line={{ stroke: 'var(--good)', strokeWidth: 1.5, strokeDasharray: '5 4' }}
          shape={() => <g />}
          isAnimationActive={false}
        />
        <Scatter data={plotted} shape={PlotPoint} isAnimationActive={false}>
          <ErrorBar dataKey="error" direction="y" width={5} stroke="var(--muted)" strokeWidth={1.25} />
        </Scatter>
      </ScatterChart>
    </ResponsiveContainer>
  );
}

interface PlotPointProps {
  cx?: number;
  cy?: number;
  payload?: Point & { placed: Label | undefined };
}

/** A circle with its label: filled on the Pareto front, empty otherwise. */
function PlotPoint({ cx = 0, cy = 0, payload }: PlotPointProps) {
  const isOnFront = payload?.isOnFront === true;
  const colour = isOnFront ? 'var(--good)' : 'var(--series-1)';
  const placed = payload?.placed;
  const isRight = placed?.corner.endsWith('right') === true;
  return (
    <g>
      <circle
        cx={cx}
        cy={cy}
        r="5.5"
        fill={isOnFront ? colour : 'var(--surface)'}
        stroke={colour}
        strokeWidth="2"
      />
      {placed !== undefined && (
        <text
          x={isRight ? cx + GAP : cx - GAP}
          y={placed.corner.startsWith('above') ? cy - GAP : cy + GAP}
          textAnchor={isRight ? 'start' : 'end'}
          dominantBaseline={placed.corner.startsWith('above') ? 'auto' : 'hanging'}
          fill="var(--text)"
          fontSize={12}
          stroke="var(--surface)"
          strokeWidth={3}
          paintOrder="stroke"
        >
          {placed.text}
        </text>
      )}
    </g>
  );
}
