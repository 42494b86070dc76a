// The differences between pairs of runs: those beyond noise first, the others on demand.
import { useState } from 'react';
import type { PairDifference, Ranking } from '../../api/types';
import { Badge, type Tone } from '../../components/badge';
import { Text } from '../../components/text';
import { formatCount } from '../../lib/format';
import { explainDifference } from '../run/compare/explain';
import {
  formatInterval,
  formatPValue,
  formatSignedValue,
  formatValue,
  metricName,
} from '../run/compare/format';

type Verdict = PairDifference['difference']['verdict'];

const isReal = ({ difference: { verdict } }: PairDifference) =>
  verdict === 'better' || verdict === 'worse' || verdict === 'changed';

/** More pairs are shown on demand. */
const MAX_PAIRS = 40;

export function Differences({ ranking }: { ranking: Ranking }) {
  const [showsAll, setShowsAll] = useState(false);
  const real = ranking.pairs.filter(isReal);
  const shown = showsAll ? ranking.pairs : real.slice(0, MAX_PAIRS);
  return (
    <>
      {shown.length === 0 ? (
        <p className="text-muted">No significant difference between any two runs.</p>
      ) : (
        <DifferenceTable pairs={shown} ranking={ranking} />
      )}
      <p className="mt-3 text-muted text-xs">
        At the same items. p-values are Holm-corrected over all pairs, separately for scores and metrics.
        {(shown.length < ranking.pairs.length || showsAll) && (
          <button
            type="button"
            aria-pressed={showsAll}
            onClick={() => setShowsAll(!showsAll)}
            className="ml-2 text-accent hover:underline"
          >
            {showsAll ? 'Show differences beyond noise' : `Show all ${formatCount(ranking.pairs.length)}`}
          </button>
        )}
      </p>
    </>
  );
}

function DifferenceTable({ pairs, ranking }: { pairs: PairDifference[]; ranking: Ranking }) {
  return (
    <table className="w-full text-left max-lg:block">
      <caption className="sr-only">Differences between pairs of runs</caption>
      <thead className="text-muted text-xs max-lg:sr-only">
        <tr className="[&>th]:pb-1.5 [&>th]:font-medium">
          <th scope="col">Metric</th>
          <th scope="col" className="px-3">
            Result
          </th>
          <th scope="col" className="px-3 text-right">
            Difference
          </th>
          <th scope="col" className="px-3">
            95% CI
          </th>
          <th scope="col" className="px-3 text-right">
            p
          </th>
          <th scope="col">Items</th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line border-line border-t max-lg:block">
        {pairs.map((pair) => (
          <Row
            key={`${pair.difference.quantity} ${pair.difference.name} ${pair.base} ${pair.other}`}
            pair={pair}
            ranking={ranking}
          />
        ))}
      </tbody>
    </table>
  );
}

const CELL = 'py-2.5 max-lg:p-0';

function Row({ pair: { base, other, difference }, ranking }: { pair: PairDifference; ranking: Ranking }) {
  const [first, second] = [ranking.runs[base]?.label ?? '', ranking.runs[other]?.label ?? ''];
  return (
    <tr className="align-top max-lg:flex max-lg:flex-col max-lg:gap-0.5 max-lg:py-3">
      <th scope="row" className={`${CELL} pr-3 font-medium [overflow-wrap:anywhere]`}>
        <Text>{metricName(difference)}</Text>
      </th>
      <td className={`${CELL} lg:px-3`}>
        <PairResult verdict={difference.verdict} base={first} other={second} />
        <span className="mt-0.5 block text-muted text-xs tabular-nums">
          <Text>{first}</Text> {formatValue(difference, difference.base)} → <Text>{second}</Text>{' '}
          {formatValue(difference, difference.other)}
        </span>
      </td>
      <td className={`${CELL} font-semibold whitespace-nowrap tabular-nums lg:px-3 lg:text-right`}>
        {formatSignedValue(difference, difference.difference)}
      </td>
      <td className={`${CELL} whitespace-nowrap text-muted tabular-nums lg:px-3`}>
        <span className="lg:hidden">95% CI </span>
        {formatInterval(difference) ?? '–'}
      </td>
      <td className={`${CELL} text-muted tabular-nums lg:px-3 lg:text-right`}>
        <span className="lg:hidden">p </span>
        {difference.pAdjusted == null ? '–' : formatPValue(difference.pAdjusted)}
      </td>
      <td className={`${CELL} text-muted text-xs/5`}>{explainDifference(difference)}</td>
    </tr>
  );
}

const TONES: Record<Verdict, Tone> = {
  better: 'good',
  worse: 'good',
  changed: 'plain',
  'within-noise': 'plain',
  inconclusive: 'warn',
};

/** Which of the two runs is better. */
function PairResult({ verdict, base, other }: { verdict: Verdict; base: string; other: string }) {
  const [winner, loser] = verdict === 'better' ? [other, base] : [base, other];
  const words = { better: 'better than', worse: 'better than', changed: 'differs from' } as const;
  const word = verdict in words ? words[verdict as keyof typeof words] : undefined;
  return (
    <span className="flex flex-wrap items-center gap-x-1.5">
      <span className="font-medium [overflow-wrap:anywhere]">
        <Text>{winner}</Text>
      </span>
      <Badge tone={TONES[verdict]}>
        {word ?? (verdict === 'within-noise' ? 'within noise of' : 'inconclusive vs.')}
      </Badge>
      <span className="[overflow-wrap:anywhere]">
        <Text>{loser}</Text>
      </span>
    </span>
  );
}
