// The figures of an evaluator in the head of its column: mean, change and distribution.
import clsx from 'clsx';
import { memo } from 'react';
import type { ItemsFilter } from '../../../api/queries';
import type { Difference, Overview } from '../../../api/types';
import { formatDateTime, formatScore, formatSigned } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { Distribution, widerBins } from '../distribution';
import { passMarkOf } from '../verdict';
import { isRangeShown, type ScoreRange } from './filter';

/** The change of a mean, and against what. */
export interface MeanChange {
  value: number;
  /** `vs. baseline`. */
  against: string;
  verdict: Difference['verdict'];
  title: string;
}

/** The changes against the saved baseline, by evaluator. */
export function baselineChanges({ run }: Overview): Map<string, MeanChange> {
  const { base, evaluators = [] } = run.baseline ?? {};
  return new Map(
    evaluators.map(({ name, difference, verdict, ci95 }) => [
      name,
      {
        value: difference,
        against: 'vs. baseline',
        verdict,
        title: [
          `Baseline ${base?.id}, ${formatDateTime(base?.timestamp ?? '')}`,
          ci95 == null ? undefined : `95% CI ${formatSigned(ci95.low)} to ${formatSigned(ci95.high)}`,
          MEANINGS[verdict],
        ]
          .filter((line) => line !== undefined)
          .join('\n'),
      },
    ]),
  );
}

const MEANINGS: Record<Difference['verdict'], string> = {
  better: 'Improved beyond noise',
  worse: 'Regressed beyond noise',
  changed: 'Changed beyond noise',
  'within-noise': 'Within noise',
  inconclusive: 'Inconclusive: too few items',
};

const COLOURS: Record<Difference['verdict'], string> = {
  better: 'text-good',
  worse: 'text-bad',
  changed: 'text-text',
  'within-noise': 'text-muted',
  inconclusive: 'text-muted',
};

/** In pixels. */
const HEIGHT = 24;

interface ScoreHeadProps {
  overview: Overview;
  evaluator: string;
  change: MeanChange | undefined;
  filter: ItemsFilter;
  onRange: (evaluator: string, range: ScoreRange) => void;
}

export const ScoreHead = memo(function ScoreHead(props: ScoreHeadProps) {
  const { overview, evaluator, change, filter, onRange } = props;
  const { run, histograms } = overview;
  const stats = getOwn(run.summary.scores, evaluator);
  const bins = getOwn(histograms, evaluator);
  const passMark = passMarkOf(run, evaluator);
  return (
    <>
      <p className="font-semibold text-sm text-text tabular-nums" title="Mean over all items">
        {stats === undefined ? '–' : formatScore(stats.avg)}
      </p>
      {change !== undefined && (
        <p title={change.title} className="font-normal whitespace-nowrap tabular-nums">
          <span className={clsx('font-medium', COLOURS[change.verdict])}>{formatSigned(change.value)}</span>{' '}
          {change.against}
        </p>
      )}
      {bins !== undefined && (
        <Distribution
          name={evaluator}
          bins={widerBins(bins, passMark)}
          passMark={passMark}
          height={HEIGHT}
          isShown={(range) => isRangeShown(filter, evaluator, range)}
          onRange={(range) => onRange(evaluator, range)}
        />
      )}
    </>
  );
});
