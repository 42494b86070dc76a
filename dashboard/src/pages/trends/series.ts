// What is drawn: the runs in their places, and the figures of each as lines.
import type { ThresholdLine, TrendPoint } from '../../api/types';
import { own } from '../../lib/own';
import type { Axis } from './chosen';

/** A run in its place on the axis. */
export interface Place {
  x: number;
  point: TrendPoint;
  /** The run before it. */
  before: TrendPoint | undefined;
  /** Whether it was made on other data than the run before. */
  isOtherData: boolean;
}

/** A line of a chart. */
export interface Series {
  name: string;
  colour: string;
  /** How the line is dashed, where colours alone do not tell. */
  dash: string | undefined;
  of: (point: TrendPoint) => number | null | undefined;
}

const COLOURS = 6;

/** The look of the line at a place, other for each of the first eighteen. */
export const look = (place: number) => ({
  colour: `var(--series-${(place % COLOURS) + 1})`,
  dash: [undefined, '6 3', '2 3'][Math.floor(place / COLOURS) % 3],
});

/** The runs in their places, oldest first. */
export const places = (points: TrendPoint[], axis: Axis): Place[] =>
  points.map((point, index) => {
    const before = points[index - 1];
    const hashes = [point.datasetHash, before?.datasetHash];
    return {
      x: axis === 'time' ? Date.parse(point.timestamp) : index,
      point,
      before,
      isOtherData: hashes.every((hash) => typeof hash === 'string') && hashes[0] !== hashes[1],
    };
  });

/** The evaluators of all runs, sorted. */
export const evaluators = (points: TrendPoint[]) =>
  [...new Set(points.flatMap((point) => Object.keys(point.scores)))].sort();

/** A line for each evaluator; its look is the same whichever others are shown. */
export const scoreSeries = (names: string[]): Series[] =>
  names.map((name, place) => ({ name, ...look(place), of: (point) => own(point.scores, name) }));

/** The lines that may be drawn with these evaluators' scores; those that bound all scores are always. */
export const scoreLines = (lines: ThresholdLine[], names: string[]) =>
  lines.filter(
    ({ quantity, evaluator }) => quantity === 'score' && (evaluator == null || names.includes(evaluator)),
  );

/** How a figure differs from that of the run before; undefined where one of the two has none. */
export function change(
  series: Series,
  { point, before }: Pick<Place, 'point' | 'before'>,
): number | undefined {
  const [now, then] = [series.of(point), before && series.of(before)];
  return typeof now === 'number' && typeof then === 'number' ? now - then : undefined;
}
