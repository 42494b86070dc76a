// The points of the plot of score against cost, and their Pareto front.
import type { Interval, Ranking } from '../../api/types';

export interface Point {
  id: string;
  label: string;
  /** The agent cost of 1,000 items, in USD. */
  cost: number;
  score: number;
  ci95: Interval | undefined;
  isOnFront: boolean;
}

/** The evaluators of the runs, in order of their first occurrence. */
export const evaluatorsOf = ({ runs }: Ranking) => [
  ...new Set(runs.flatMap(({ scores }) => scores.map((score) => score.evaluator))),
];

/** The runs whose cost and score are known; without an evaluator, the score is the mean over the evaluators. */
export function pointsOf({ runs }: Ranking, evaluator: string): Point[] {
  const points = runs.flatMap(({ run, label, scores, meanScore, costPer1000: cost }) => {
    const score = scores.find((one) => one.evaluator === evaluator);
    const value = evaluator === '' ? meanScore : score?.mean;
    if (cost == null || value == null) return [];
    return [{ id: run.id, label, cost, score: value, ci95: score?.ci95 ?? undefined }];
  });
  return points.map((point) => ({ ...point, isOnFront: !points.some((other) => dominates(other, point)) }));
}

type Position = Pick<Point, 'cost' | 'score'>;

const dominates = (one: Position, other: Position) =>
  one.cost <= other.cost && one.score >= other.score && (one.cost < other.cost || one.score > other.score);

/** The points on the front, cheapest first. */
export const frontOf = (points: Point[]) =>
  points.filter((point) => point.isOnFront).sort((one, other) => one.cost - other.cost);
