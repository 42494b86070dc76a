// The metrics that the axes of the scatter plot can have.
import type { TrendPoint } from '../../../api/types';
import { formatCost, formatCount, formatDuration, formatScore } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { evaluatorNames } from './series';

/** A metric of a run. */
export interface Metric {
  /** Its name in the URL. */
  key: string;
  name: string;
  value: (point: TrendPoint) => number | null | undefined;
  format: (value: number) => string;
  isScore?: boolean;
}

const meanScore = ({ scores }: TrendPoint) => {
  const values = Object.values(scores);
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
};

const totalCost = ({ cost, judgeCost, userCost }: TrendPoint) => {
  const known = [cost, judgeCost, userCost].filter((part) => typeof part === 'number');
  return known.length === 0 ? undefined : known.reduce((sum, part) => sum + part, 0);
};

const METRICS: Metric[] = [
  { key: 'score', name: 'Mean score', value: meanScore, format: formatScore, isScore: true },
  { key: 'latency', name: 'Mean latency', value: ({ avgLatencyMs }) => avgLatencyMs, format: formatDuration },
  { key: 'cost', name: 'Agent cost', value: ({ cost }) => cost, format: formatCost },
  { key: 'total', name: 'Total cost', value: totalCost, format: formatCost },
  { key: 'tokens', name: 'Agent tokens', value: ({ totalTokens }) => totalTokens, format: formatCount },
];

/** The metrics that at least one run has; the evaluators are last. */
export function metricsOf(points: TrendPoint[]): Metric[] {
  const scores = evaluatorNames(points).map(
    (name): Metric => ({
      key: `score:${name}`,
      name,
      value: (point) => getOwn(point.scores, name),
      format: formatScore,
      isScore: true,
    }),
  );
  // The mean of a single score is that score.
  const others = METRICS.filter(({ key }) => key !== 'score' || scores.length !== 1);
  return [...others, ...scores].filter(({ value }) =>
    points.some((point) => typeof value(point) === 'number'),
  );
}

/** The metrics of the axes: those of the URL, or the agent cost (else the latency) and the first score. */
export function axesOf(metrics: Metric[], x: string, y: string): [Metric, Metric] | undefined {
  const find = (key: string) => metrics.find((metric) => metric.key === key);
  const across = find(x) ?? find('cost') ?? find('latency');
  const up = find(y) ?? metrics.find(({ isScore }) => isScore) ?? find('latency');
  return across && up && [across, up];
}

/** A run with both metrics. */
export interface ScatterPoint {
  point: TrendPoint;
  x: number;
  y: number;
}

export const scatterPoints = (points: TrendPoint[], [across, up]: [Metric, Metric]): ScatterPoint[] =>
  points.flatMap((point) => {
    const [x, y] = [across.value(point), up.value(point)];
    return typeof x === 'number' && typeof y === 'number' ? [{ point, x, y }] : [];
  });
