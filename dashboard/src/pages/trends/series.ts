// What is drawn: the runs in their places, and the figures of each as lines.
import type { ThresholdLine, TrendPoint } from '../../api/types';
import { getOwn } from '../../lib/get-own';
import type { Axis } from './parameters';

/** A run in its place on the axis. */
export interface PlottedRun {
  x: number;
  point: TrendPoint;
  /** The run before it. */
  previous: TrendPoint | undefined;
  /** Whether it was made on other data than the run before. */
  datasetChanged: boolean;
}

/** A line of a chart. */
export interface Series {
  name: string;
  colour: string;
  /** How the line is dashed, where colours alone do not tell. */
  dash: string | undefined;
  value: (point: TrendPoint) => number | null | undefined;
}

const COLOURS = 6;

/** The look of the line at a place, other for each of the first eighteen. */
export const lineStyle = (place: number) => ({
  colour: `var(--series-${(place % COLOURS) + 1})`,
  dash: [undefined, '6 3', '2 3'][Math.floor(place / COLOURS) % 3],
});

/** The runs in their places, oldest first. */
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

/** A line for each evaluator; its look is the same whichever others are shown. */
export const scoreSeries = (names: string[]): Series[] =>
  names.map((name, place) => ({ name, ...lineStyle(place), value: (point) => getOwn(point.scores, name) }));

/** The lines that may be drawn with these evaluators' scores; those that bound all scores are always. */
export const scoreThresholds = (lines: ThresholdLine[], names: string[]) =>
  lines.filter(
    ({ quantity, evaluator }) => quantity === 'score' && (evaluator == null || names.includes(evaluator)),
  );

/** How a figure differs from that of the run before; undefined where one of the two has none. */
export function changeFromPrevious(
  series: Series,
  { point, previous }: Pick<PlottedRun, 'point' | 'previous'>,
): number | undefined {
  const [now, then] = [series.value(point), previous && series.value(previous)];
  return typeof now === 'number' && typeof then === 'number' ? now - then : undefined;
}
