// The chart data: plotted runs, and metrics as series.
import type { ThresholdLine, TrendPoint } from '../../../api/types';
import { getOwn } from '../../../lib/get-own';
import type { Axis } from './parameters';

/** A run with its position on the x axis. */
export interface PlottedRun {
  x: number;
  point: TrendPoint;
  /** The previous run. */
  previous: TrendPoint | undefined;
  /** Whether its dataset differs from that of the previous run. */
  datasetChanged: boolean;
}

/** A line of a chart. */
export interface Series {
  name: string;
  colour: string;
  /** The dash pattern, if the colour is not unique. */
  dash: string | undefined;
  value: (point: TrendPoint) => number | null | undefined;
}

const COLOURS = 6;

/** The style of a line by its index; unique for the first 18 lines. */
export const lineStyle = (index: number) => ({
  colour: `var(--series-${(index % COLOURS) + 1})`,
  dash: [undefined, '6 3', '2 3'][Math.floor(index / COLOURS) % 3],
});

/** The runs with their positions, oldest first. */
export const plotRuns = (points: TrendPoint[], axis: Axis): PlottedRun[] =>
  points.map((point, index) => {
    const previous = points[index - 1];
    const hashes = [point.datasetHash, previous?.datasetHash];
    return {
      x: axis === 'time' ? Date.parse(point.timestamp) : index,
      point,
      previous,
      datasetChanged: hashes.every((hash) => typeof hash === 'string') && hashes[0] !== hashes[1],
    };
  });

/** The evaluators of all runs, sorted. */
export const evaluatorNames = (points: TrendPoint[]) =>
  [...new Set(points.flatMap((point) => Object.keys(point.scores)))].sort();

/** One line per evaluator. Its style does not depend on which lines are hidden. */
export const scoreSeries = (names: string[]): Series[] =>
  names.map((name, index) => ({ name, ...lineStyle(index), value: (point) => getOwn(point.scores, name) }));

/** The thresholds for the scores of these evaluators, and for all scores. */
export const scoreThresholds = (lines: ThresholdLine[], names: string[]) =>
  lines.filter(
    ({ quantity, evaluator }) => quantity === 'score' && (evaluator == null || names.includes(evaluator)),
  );

/** The change of a value since the previous run; undefined if either value is missing. */
export function changeFromPrevious(
  series: Series,
  { point, previous }: Pick<PlottedRun, 'point' | 'previous'>,
): number | undefined {
  const [now, then] = [series.value(point), previous && series.value(previous)];
  return typeof now === 'number' && typeof then === 'number' ? now - then : undefined;
}

/** The start of a score axis: just below the lowest value, to make changes visible; at most 0.8. */
export const lowestTick = (scores: number[]): number =>
  Math.max(0, Math.floor(10 * Math.min(0.9, ...scores) - 0.2)) / 10;
