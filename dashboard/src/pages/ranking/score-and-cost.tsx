// The plot of score against agent cost, with a table of the same values beside it.

import type { Ranking } from '../../api/types';
import { Imported } from '../../components/imported';
import { Skeleton } from '../../components/skeleton';
import { Text } from '../../components/text';
import { formatCost, formatScore } from '../../lib/format';
import { evaluatorsOf, type Point, pointsOf } from './pareto';

// Loaded on demand: the chart library is as large as the rest of the page.
const loadPlot = () => import('./plot');

interface ScoreAndCostProps {
  ranking: Ranking;
  name: string;
  /** Empty for the mean over all evaluators. */
  evaluator: string;
}

export function ScoreAndCost({ ranking, name, evaluator }: ScoreAndCostProps) {
  const [only] = ranking.runs[0]?.scores ?? [];
  // With one evaluator, its mean is the mean over the evaluators, and has a CI.
  const isOnly = only !== undefined && evaluatorsOf(ranking).length === 1;
  const points = pointsOf(ranking, isOnly ? only.evaluator : evaluator);
  return (
    <>
      {points.length === 0 ? (
        <p className="text-muted">No run has both a score and a known agent cost for all items.</p>
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(20rem,28rem)]">
          <figure aria-label="Score against agent cost; the table has the same values">
            <Imported
              load={loadPlot}
              name="the chart"
              placeholder={<Skeleton label="Loading chart" className="h-48" />}
            >
              {({ default: Plot }) => <Plot points={points} />}
            </Imported>
          </figure>
          <PointTable points={points} name={name} missing={ranking.runs.length - points.length} />
        </div>
      )}
    </>
  );
}

function PointTable({ points, name, missing }: { points: Point[]; name: string; missing: number }) {
  const sorted = [...points].sort((one, other) => one.cost - other.cost);
  return (
    <div>
      <table className="w-full text-left">
        <caption className="sr-only">Score and agent cost, cheapest first</caption>
        <thead className="text-muted text-xs">
          <tr className="align-bottom [&>th]:pb-1.5 [&>th]:font-medium">
            <th scope="col">{name}</th>
            <th scope="col" className="px-3 text-right">
              Agent cost per 1,000 items
            </th>
            <th scope="col" className="px-3">
              Score (95% CI)
            </th>
            <th scope="col">Pareto front</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line border-line border-t">
          {sorted.map(({ id, label, cost, score, ci95, isOnFront }) => (
            <tr key={id} className="align-top [&>*]:py-1.5">
              <th scope="row" className="min-w-18 font-medium [overflow-wrap:anywhere]">
                <Text>{label}</Text>
              </th>
              <td className="px-3 text-right tabular-nums">{formatCost(cost)}</td>
              <td className="px-3 tabular-nums">
                {formatScore(score)}
                {ci95 && (
                  <span className="block text-muted text-xs whitespace-nowrap">
                    {formatScore(ci95.low)} to {formatScore(ci95.high)}
                  </span>
                )}
              </td>
              <td>{isOnFront ? 'yes' : <span className="text-muted">no</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {missing > 0 && (
        <p className="mt-3 text-muted text-xs">
          Not shown: runs without a score or a known agent cost ({missing}).
        </p>
      )}
    </div>
  );
}
