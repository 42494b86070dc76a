// The table of ranked runs: scores with CI and rank, pass rate, latency, cost and tokens.

import { Link } from 'react-router';
import type { RankedRun, RankedScore, Ranking } from '../../api/types';
import { Badge } from '../../components/badge';
import { Interval } from '../../components/interval';
import { Settings } from '../../components/settings';
import { Text } from '../../components/text';
import { Verdict } from '../../components/verdict';
import { runUrl } from '../../lib/addresses';
import { formatCost, formatCount, formatDuration, formatPercent, formatScore } from '../../lib/format';
import { formatRank, verdictOf } from './format';
import { evaluatorsOf } from './pareto';

interface VariantsProps {
  ranking: Ranking;
  name: 'Variant' | 'Run';
}

export function Variants({ ranking, name }: VariantsProps) {
  const evaluators = evaluatorsOf(ranking);
  return (
    <>
      <div className="relative -mx-4 overflow-x-auto px-4">
        <table className="w-full text-left">
          <caption className="sr-only">{name}s with scores, latency, agent cost and tokens</caption>
          <thead className="border-line border-b text-muted text-xs">
            <tr className="align-bottom [&>th]:pb-1.5 [&>th]:font-medium">
              <th scope="col" className="pr-3">
                {name}
              </th>
              {evaluators.map((evaluator) => (
                <th key={evaluator} scope="col" className="min-w-44 px-3 [overflow-wrap:anywhere]">
                  <Text>{evaluator}</Text>
                  <span className="block font-normal">Mean (95% CI), rank</span>
                </th>
              ))}
              <th scope="col" className="px-3 text-right">
                Items passed
              </th>
              <th scope="col" className="px-3 text-right whitespace-nowrap">
                Mean latency
              </th>
              <th scope="col" className="px-3 text-right">
                Agent cost per 1,000 items
              </th>
              <th scope="col" className="pl-3 text-right">
                Tokens per item
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {ranking.runs.map((run, place) => (
              <Row
                key={run.run.id}
                run={run}
                evaluators={evaluators}
                mark={markOf(ranking, place)}
                isCompared={ranking.runs.length > 1}
              />
            ))}
          </tbody>
        </table>
      </div>
      <p className="mt-3 text-muted text-xs">
        Rank: the ranks that are possible beyond noise. Pareto front: no other run scores at least as high at
        most the same agent cost.
      </p>
    </>
  );
}

/** What the recommendation says about a run. */
function markOf({ runs, recommendation }: Ranking, place: number): string | undefined {
  if (recommendation == null || runs.length < 2) return undefined;
  if (recommendation.cheapest === place) return 'Recommended';
  return recommendation.best === place ? 'Highest score' : undefined;
}

const NUMBER = 'px-3 text-right whitespace-nowrap tabular-nums';

interface RowProps {
  run: RankedRun;
  evaluators: string[];
  mark: string | undefined;
  /** Whether there are other runs. */
  isCompared: boolean;
}

function Row({ run, evaluators, mark, isCompared }: RowProps) {
  return (
    <tr className="align-top [&>*]:py-3">
      <th scope="row" className="min-w-36 max-w-72 pr-3 font-normal">
        <Link to={runUrl(run.run.id)} className="font-semibold [overflow-wrap:anywhere] hover:underline">
          <Text>{run.label}</Text>
        </Link>
        <span className="mt-1 flex flex-wrap gap-1">
          <Verdict verdict={verdictOf(run)} />
          {run.isDefault === true && <Badge>Default</Badge>}
          {mark !== undefined && <Badge tone="accent">{mark}</Badge>}
          {isCompared && run.isOnParetoFront && <Badge tone="good">Pareto front</Badge>}
        </span>
        <Settings settings={run.settings} />
      </th>
      {evaluators.map((evaluator) => (
        <td key={evaluator} className="px-3">
          <ScoreCell score={run.scores.find((score) => score.evaluator === evaluator)} />
        </td>
      ))}
      <td className={NUMBER}>
        {formatPercent(run.items === 0 ? 0 : run.passedItems / run.items)}
        <span className="block text-muted text-xs">
          {formatCount(run.passedItems)} of {formatCount(run.items)}
        </span>
        {run.failedItems > 0 && (
          <span className="block text-bad text-xs">{formatCount(run.failedItems)} in error</span>
        )}
      </td>
      <td className={NUMBER}>
        <Known value={run.latencyMs} format={formatDuration} />
      </td>
      <td className={NUMBER}>
        <Known value={run.costPer1000} format={formatCost} />
      </td>
      <td className={`${NUMBER} pr-0`}>
        <Known value={run.tokensPerItem} format={formatCount} />
      </td>
    </tr>
  );
}

function ScoreCell({ score }: { score: RankedScore | undefined }) {
  if (score === undefined) return <span className="text-muted">no score</span>;
  const { mean, ci95, passRate, rank } = score;
  return (
    <span className="block tabular-nums">
      <span className="flex items-baseline gap-2">
        <span className="font-semibold">{formatScore(mean)}</span>
        <span className="text-muted text-xs whitespace-nowrap">rank {formatRank(rank)}</span>
      </span>
      <Interval ci95={ci95 ?? undefined} mean={mean} />
      <span className="block text-muted text-xs whitespace-nowrap">
        {ci95 ? `${formatScore(ci95.low)} to ${formatScore(ci95.high)}` : 'no CI'}
      </span>
      {passRate != null && (
        <span className="block text-muted text-xs whitespace-nowrap">
          pass rate {formatPercent(passRate)}
        </span>
      )}
    </span>
  );
}

function Known({ value, format }: { value: number | null | undefined; format: (value: number) => string }) {
  if (value != null) return format(value);
  return (
    <span className="text-muted">
      <span aria-hidden="true">–</span>
      <span className="sr-only">unknown</span>
    </span>
  );
}
