// What is said of a comparison, in the words of `cargo cobalt compare`.
import type { Comparison, Difference } from '../../api/types';
import { count, counted, fixed } from '../../lib/format';
import { detectable } from './figures';

type Verdict = Difference['verdict'];

/** The most keys of items that are named. */
const KEYS = 3;

/** All that was compared. */
const differences = (comparison: Comparison) => [...comparison.evaluators, ...comparison.amounts];

/** How many items became better and worse: `12 items: 3 better, 1 worse, 8 equal`. */
function moved(difference: Difference): string {
  const { better, worse, equal, items, clusters } = difference;
  const parts = [
    [better, 'better'],
    [worse, 'worse'],
    [equal, 'equal'],
  ] as const;
  const said = parts.filter(([number]) => number > 0).map(([number, word]) => `${count(number)} ${word}`);
  const inClusters = clusters === items ? '' : ` in ${counted(clusters, 'cluster')}`;
  return `${counted(items, 'item')}${inClusters}: ${said.join(', ')}`;
}

/** By which factor a typical item differs, with its interval: `×1.10 (1.05 to 1.15)`. */
function factor({ ratio, ci95 }: NonNullable<Difference['ratio']>): string {
  return `×${fixed(ratio, 2)} (${fixed(ci95.low, 2)} to ${fixed(ci95.high, 2)})`;
}

/** What a verdict rests on: how the items moved, what would have shown, and what would settle an open question. */
export function explained(difference: Difference): string {
  const parts = [moved(difference)];
  if (difference.unmeasured > 0) {
    parts.push(`${count(difference.unmeasured)} more without a figure in one of the runs`);
  }
  if (difference.ratio) parts.push(`typically ${factor(difference.ratio)}`);
  const isOpen = difference.verdict === 'inconclusive' || difference.verdict === 'within-noise';
  const smallest = detectable(difference, 'no size');
  if (isOpen && smallest !== undefined) {
    parts.push(`a difference of ${smallest} would show in 80 % of cases`);
  }
  const needed = difference.settledBy;
  if (needed !== null) {
    const runs = typeof needed.runs === 'number' ? `, or ${count(needed.runs)} runs of each item,` : '';
    parts.push(`${count(needed.items)} items${runs} would settle it`);
  }
  return parts.join('; ');
}

/** The verdicts that deserve to be said first, each with what it is on. */
export function headline(comparison: Comparison): { verdict: Verdict; names: string[] }[] {
  const verdicts: Verdict[] = ['worse', 'better', 'inconclusive'];
  const named = verdicts.map((verdict) => {
    const those = differences(comparison).filter((difference) => difference.verdict === verdict);
    return { verdict, names: those.map((difference) => difference.name) };
  });
  return named.filter(({ names }) => names.length > 0);
}

/** What is said where there is no verdict to be said first. */
export function withoutHeadline(comparison: Comparison): string | undefined {
  if (differences(comparison).length === 0) return 'Nothing to compare: no figure is in both runs.';
  return headline(comparison).length === 0 ? 'No difference seen (within noise).' : undefined;
}

/** Which items the runs have in common. */
export function matching({ matched, changed, added, removed }: Comparison['items']): string {
  const named = (keys: string[]) => {
    const more = keys.length > KEYS ? [`${count(keys.length - KEYS)} more`] : [];
    return [...keys.slice(0, KEYS), ...more].join(', ');
  };
  const parts = [
    [changed, 'with other content'],
    [added, 'added'],
    [removed, 'removed'],
  ] as const;
  const said = parts
    .filter(([keys]) => keys.length > 0)
    .map(([keys, what]) => `${count(keys.length)} ${what} (${named(keys)})`);
  return [`${count(matched)} in both runs`, ...said].join(', ');
}

/** Whether p-values were corrected for being several. */
export const isCorrected = (comparisons: Comparison[]) =>
  comparisons.flatMap(differences).some((difference) => difference.pAdjusted !== difference.pValue);
