// The filters and the order of an experiment's runs, kept in the URL.
import { useCallback, useMemo } from 'react';
import type { RunRow } from '../../../api/types';
import type { SortOrder } from '../../../components/sort-button';
import { getOwn } from '../../../lib/get-own';
import { compareValues } from '../../../lib/sort-values';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import type { RunColumn } from './columns';

/** What the scores are compared with. */
export type Reference = 'previous' | 'baseline';

const isVerdict = (run: RunRow, verdict: string) => verdict === '' || run.verdict === verdict;

const DEFAULT_SORT = 'started';

/** The texts of a run that a search looks into. */
const textsOf = ({ id, name, runName, tags, gitCommit }: RunRow) => [
  ...[id, name, runName ?? '', gitCommit ?? ''],
  ...tags,
];

export function useRunOrder(columns: RunColumn[], runs: RunRow[]) {
  const { get, set } = useUrlParameters();
  const [search, verdict, tag] = [get('search'), get('verdict'), get('tag')];
  const column =
    columns.find(({ key }) => key === get('sort')) ?? columns.find(({ key }) => key === DEFAULT_SORT);
  const sort = column?.key ?? DEFAULT_SORT;
  const first = column?.first ?? 'desc';
  const order: SortOrder = get('order') === 'asc' ? 'asc' : get('order') === 'desc' ? 'desc' : first;

  const apply = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/);
    const matches = (run: RunRow) =>
      isVerdict(run, verdict) &&
      (tag === '' || run.tags.includes(tag)) &&
      words.every((word) => textsOf(run).some((text) => text.toLowerCase().includes(word)));
    const value = column?.value ?? (() => undefined);
    return (runs: RunRow[]) =>
      runs.filter(matches).sort((one, other) => compareValues(value(one), value(other), order));
  }, [search, verdict, tag, column, order]);

  const sortBy = (key: string) => {
    if (key !== sort) return set({ sort: key === DEFAULT_SORT ? undefined : key, order: undefined });
    const other = order === 'asc' ? 'desc' : 'asc';
    return set({ order: other === first ? undefined : other });
  };
  const clear = useCallback(() => set({ search: undefined, verdict: undefined, tag: undefined }), [set]);

  const baselineRun = runs.find(({ isBaseline }) => isBaseline === true);
  const reference: Reference =
    baselineRun !== undefined && get('change') === 'baseline' ? 'baseline' : 'previous';
  /** The change of a score against the run before or the baseline; undefined if either has none. */
  const changeOf = (run: RunRow, evaluator: string): number | undefined => {
    const now = getOwn(run.avgScores, evaluator);
    const then =
      reference === 'baseline'
        ? getOwn(baselineRun?.avgScores, evaluator)
        : getOwn(run.recentScores, evaluator)?.at(-2);
    return typeof now === 'number' && typeof then === 'number' ? now - then : undefined;
  };
  return {
    ...{ search, verdict, tag, sort, order, apply, sortBy, clear, set },
    ...{ reference, canUseBaseline: baselineRun !== undefined, changeOf },
  };
}

export type RunOrder = ReturnType<typeof useRunOrder>;
