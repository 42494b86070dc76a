// The search and the order of the experiments, kept in the URL.
import { useMemo } from 'react';
import type { ExperimentRow } from '../../api/types';
import type { SortOrder } from '../../components/sort-button';
import { compareValues } from '../../lib/sort-values';
import { useUrlParameters } from '../../lib/use-url-parameters';
import { costsOf } from '../runs/cells';
import { passedShare, SEVERITY } from '../runs/order';

interface Sort {
  name: string;
  /** The order that is chosen first. */
  first: SortOrder;
  value: (experiment: ExperimentRow) => number | string | undefined;
}

export const SORTS = {
  latest: { name: 'Latest run', first: 'desc', value: ({ latest }) => latest.timestamp },
  name: { name: 'Experiment', first: 'asc', value: ({ name }) => name },
  verdict: { name: 'Verdict', first: 'desc', value: ({ latest }) => SEVERITY[latest.verdict] },
  items: { name: 'Items at pass marks', first: 'asc', value: ({ latest }) => passedShare(latest) },
  cost: { name: 'Total cost', first: 'desc', value: ({ latest }) => costsOf(latest).total },
  latency: { name: 'Mean latency', first: 'desc', value: ({ latest }) => latest.avgLatencyMs },
} satisfies Record<string, Sort>;

export type SortKey = keyof typeof SORTS;

export function useOrder() {
  const { get, set } = useUrlParameters();
  const search = get('search');
  const sort: SortKey = Object.hasOwn(SORTS, get('sort')) ? (get('sort') as SortKey) : 'latest';
  const { first }: Sort = SORTS[sort];
  const order: SortOrder = get('order') === 'asc' ? 'asc' : get('order') === 'desc' ? 'desc' : first;

  const sorted = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/);
    const { value }: Sort = SORTS[sort];
    return (experiments: ExperimentRow[]) =>
      experiments
        .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
        .sort((one, other) => compareValues(value(one), value(other), order));
  }, [search, sort, order]);

  /** Sorts by a key, or reverses the order if it is that already. */
  const sortBy = (key: SortKey) => {
    if (key !== sort) return set({ sort: key === 'latest' ? undefined : key, order: undefined });
    const other = order === 'asc' ? 'desc' : 'asc';
    return set({ order: other === first ? undefined : other });
  };
  return { search, sort, order, sorted, sortBy, set };
}

export type ExperimentOrder = ReturnType<typeof useOrder>;
