// Describes a comparison in words, like `cargo cobalt compare`.
import type { Comparison, Difference } from '../../../api/types';
import { formatCount, formatFixed, pluralize } from '../../../lib/format';
import { metricName, minDetectable } from './format';

type Verdict = Difference['verdict'];

/** The maximum number of item keys to list. */
const MAX_KEYS = 3;

const allDifferences = (comparison: Comparison) => [...comparison.evaluators, ...comparison.amounts];

/** How items changed: `12 items: 3 better, 1 worse, 8 equal`. */
function itemCounts(difference: Difference): string {
  const { better, worse, equal, items, clusters } = difference;
  const hasDirection = difference.quantity !== 'metric' || difference.direction != null;
  const parts = [
    [better, 'better'],
    [worse, 'worse'],
    [hasDirection ? 0 : items - equal, 'changed'],
    [equal, 'equal'],
  ] as const;
  const counts = parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${formatCount(number)} ${word}`);
  const inClusters = clusters === items ? '' : ` in ${pluralize(clusters, 'cluster')}`;
  return `${pluralize(items, 'item')}${inClusters}: ${counts.join(', ')}`;
}

/** The typical ratio of an item, with its CI: `×1.10 (95% CI 1.05 to 1.15)`. */
function formatRatio({ ratio, ci95 }: NonNullable<Difference['ratio']>): string {
  return `×${formatFixed(ratio, 2)} (95% CI ${formatFixed(ci95.low, 2)} to ${formatFixed(ci95.high, 2)})`;
}

/** Explains a verdict: how items changed, the min detectable difference, and the sample size needed. */
export function explainDifference(difference: Difference): string {
  const parts = [explainItems(difference)];
  const isOpen = difference.verdict === 'inconclusive' || difference.verdict === 'within-noise';
  const smallest = minDetectable(difference);
  if (isOpen && smallest !== undefined) {
    parts.push(`min detectable difference (80% power): ${smallest}`);
  }
  return [...parts, ...explainNeeded(difference)].join('; ');
}

/** How items changed, and the sample size needed; without the min detectable difference. */
export const explainChange = (difference: Difference) =>
  [explainItems(difference), ...explainNeeded(difference)].join('; ');

function explainItems(difference: Difference): string {
  const parts = [itemCounts(difference)];
  if (difference.unmeasured > 0) {
    parts.push(`${formatCount(difference.unmeasured)} more not measured in both runs`);
  }
  if (difference.ratio) parts.push(`typical ratio ${formatRatio(difference.ratio)}`);
  return parts.join('; ');
}

function explainNeeded({ settledBy: needed }: Difference): string[] {
  if (needed === null) return [];
  const trials = typeof needed.runs === 'number' ? ` (or ${formatCount(needed.runs)} trials per item)` : '';
  return [`about ${formatCount(needed.items)} items${trials} needed`];
}

/** The verdicts to show first, each with its scores and metrics. */
export function notableVerdicts(comparison: Comparison): { verdict: Verdict; names: string[] }[] {
  const verdicts: Verdict[] = ['worse', 'better', 'changed', 'inconclusive'];
  const named = verdicts.map((verdict) => {
    const matching = allDifferences(comparison).filter((difference) => difference.verdict === verdict);
    return { verdict, names: matching.map(metricName) };
  });
  return named.filter(({ names }) => names.length > 0);
}

/** The text if there are no notable verdicts. */
export function noChangeText(comparison: Comparison): string | undefined {
  if (allDifferences(comparison).length === 0)
    return 'Nothing to compare: no score or metric is in both runs.';
  return notableVerdicts(comparison).length === 0 ? 'No significant difference (within noise).' : undefined;
}

/** Which items the runs have in common. `reference` and `other` are their names within a sentence. */
export function matchedItems(
  { matched, changed, added, removed }: Comparison['items'],
  reference: string,
  other: string,
): string {
  const named = (keys: string[]) => {
    const more = keys.length > MAX_KEYS ? [`${formatCount(keys.length - MAX_KEYS)} more`] : [];
    return [...keys.slice(0, MAX_KEYS), ...more].join(', ');
  };
  const parts = [
    [changed, 'Input changed'],
    [removed, `Only in ${reference}`],
    [added, `Only in ${other}`],
  ] as const;
  const lists = parts.filter(([keys]) => keys.length > 0).map(([keys, title]) => `${title}: ${named(keys)}`);
  return [`${pluralize(matched, 'item')} in both`, ...lists].join('. ');
}

/** Whether p-values were corrected for multiple comparisons. */
export const hasAdjustedPValues = (comparisons: Comparison[]) =>
  comparisons.flatMap(allDifferences).some((difference) => difference.pAdjusted !== difference.pValue);
