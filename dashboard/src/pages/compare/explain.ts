// What is said of a comparison, in the words of `cargo cobalt compare`.
import type { Comparison, Difference } from '../../api/types';
import { formatCount, formatFixed, pluralize } from '../../lib/format';
import { minDetectable } from './format';

type Verdict = Difference['verdict'];

/** The most keys of items that are named. */
const MAX_KEYS = 3;

/** All that was compared. */
const allDifferences = (comparison: Comparison) => [...comparison.evaluators, ...comparison.amounts];

/** How many items became better and worse: `12 items: 3 better, 1 worse, 8 equal`. */
function itemCounts(difference: Difference): string {
  const { better, worse, equal, items, clusters } = difference;
  const parts = [
    [better, 'better'],
    [worse, 'worse'],
    [equal, 'equal'],
  ] as const;
  const said = parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${formatCount(number)} ${word}`);
  const inClusters = clusters === items ? '' : ` in ${pluralize(clusters, 'cluster')}`;
  return `${pluralize(items, 'item')}${inClusters}: ${said.join(', ')}`;
}

/** By which factor a typical item differs, with its interval: `×1.10 (1.05 to 1.15)`. */
function formatRatio({ ratio, ci95 }: NonNullable<Difference['ratio']>): string {
  return `×${formatFixed(ratio, 2)} (${formatFixed(ci95.low, 2)} to ${formatFixed(ci95.high, 2)})`;
}

/** What a verdict rests on: how the items moved, what would have shown, and what would settle an open question. */
export function explainDifference(difference: Difference): string {
  const parts = [itemCounts(difference)];
  if (difference.unmeasured > 0) {
    parts.push(`${formatCount(difference.unmeasured)} more without a figure in one of the runs`);
  }
  if (difference.ratio) parts.push(`typically ${formatRatio(difference.ratio)}`);
  const isOpen = difference.verdict === 'inconclusive' || difference.verdict === 'within-noise';
  const smallest = minDetectable(difference, 'no size');
  if (isOpen && smallest !== undefined) {
    parts.push(`a difference of ${smallest} would show in 80 % of cases`);
  }
  const needed = difference.settledBy;
  if (needed !== null) {
    const runs = typeof needed.runs === 'number' ? `, or ${formatCount(needed.runs)} runs of each item,` : '';
    parts.push(`${formatCount(needed.items)} items${runs} would settle it`);
  }
  return parts.join('; ');
}

/** The verdicts that deserve to be said first, each with what it is on. */
export function notableVerdicts(comparison: Comparison): { verdict: Verdict; names: string[] }[] {
  const verdicts: Verdict[] = ['worse', 'better', 'inconclusive'];
  const named = verdicts.map((verdict) => {
    const those = allDifferences(comparison).filter((difference) => difference.verdict === verdict);
    return { verdict, names: those.map((difference) => difference.name) };
  });
  return named.filter(({ names }) => names.length > 0);
}

/** What is said where there is no verdict to be said first. */
export function noChangeText(comparison: Comparison): string | undefined {
  if (allDifferences(comparison).length === 0) return 'Nothing to compare: no figure is in both runs.';
  return notableVerdicts(comparison).length === 0 ? 'No difference seen (within noise).' : undefined;
}

/** Which items the runs have in common. */
export function matchedItems({ matched, changed, added, removed }: Comparison['items']): string {
  const named = (keys: string[]) => {
    const more = keys.length > MAX_KEYS ? [`${formatCount(keys.length - MAX_KEYS)} more`] : [];
    return [...keys.slice(0, MAX_KEYS), ...more].join(', ');
  };
  const parts = [
    [changed, 'with other content'],
    [added, 'added'],
    [removed, 'removed'],
  ] as const;
  const said = parts
    .filter(([keys]) => keys.length > 0)
    .map(([keys, what]) => `${formatCount(keys.length)} ${what} (${named(keys)})`);
  return [`${formatCount(matched)} in both runs`, ...said].join(', ');
}

/** Whether p-values were corrected for being several. */
export const hasAdjustedPValues = (comparisons: Comparison[]) =>
  comparisons.flatMap(allDifferences).some((difference) => difference.pAdjusted !== difference.pValue);
