// The filters and sort order of the runs page, kept in the URL.
import { useCallback, useMemo } from 'react';
import type { RunsQuery, RunVerdict } from '../../api/types';
import { dayBoundary } from '../../lib/format';
import { useUrlParameters } from '../../lib/use-url-parameters';

export type Sort = NonNullable<RunsQuery['sort']>;
type Order = NonNullable<RunsQuery['order']>;

/** The filters in display order. */
const FILTERS = ['search', 'experiment', 'verdict', 'tag', 'since', 'until'] as const;
export type Filter = (typeof FILTERS)[number];

export const SORTS: Record<Sort, string> = {
  timestamp: 'Started',
  name: 'Experiment',
  verdict: 'Verdict',
  score: 'Scores',
  items: 'Items',
  errors: 'Errors',
  duration: 'Duration',
  latency: 'Latency',
  tokens: 'Tokens',
  cost: 'Total cost',
};

export const VERDICTS: Record<RunVerdict, string> = {
  passed: 'Passed',
  failed: 'Failed',
  error: 'Error',
  partial: 'Partial',
};

/** The number of runs in a sparkline. */
const RECENT = 12;

/** The default order of a sort key: names ascending, all others descending. */
const defaultOrder = (sort: Sort): Order => (sort === 'name' ? 'asc' : 'desc');

const keyOf = <Known extends string>(known: Record<Known, unknown>, given: string): Known | undefined =>
  Object.hasOwn(known, given) ? (given as Known) : undefined;

export function useFilters() {
  const { get, set, search: parameters } = useUrlParameters();
  const sort = keyOf(SORTS, get('sort')) ?? 'timestamp';
  const order = keyOf({ asc: 0, desc: 0 }, get('order')) ?? defaultOrder(sort);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `get` reads the URL
  const query = useMemo(
    (): RunsQuery => ({
      search: get('search') || undefined,
      experiment: get('experiment') || undefined,
      verdict: keyOf(VERDICTS, get('verdict')),
      tag: get('tag') || undefined,
      since: get('since') || undefined,
      until: get('until') || undefined,
      sort,
      order,
      recent: RECENT,
    }),
    [parameters, sort, order],
  );

  // Dates are in the browser's time zone, like the times in the list.
  const apiQuery = useMemo(
    (): RunsQuery => ({
      ...query,
      since: query.since && dayBoundary(query.since, 'start'),
      until: query.until && dayBoundary(query.until, 'end'),
    }),
    [query],
  );

  /** Sorts by a key in its default order. */
  const sortBy = (key: Sort) => set({ sort: key === 'timestamp' ? undefined : key, order: undefined });
  const reverseOrder = () => {
    const other = order === 'asc' ? 'desc' : 'asc';
    set({ order: other === defaultOrder(sort) ? undefined : other });
  };
  const clear = useCallback(
    () => set(Object.fromEntries(FILTERS.map((filter) => [filter, undefined]))),
    [set],
  );

  return {
    query,
    apiQuery,
    sort,
    order,
    sortBy,
    reverseOrder,
    set,
    clear,
    active: FILTERS.filter((filter) => query[filter]),
  };
}

export type Filters = ReturnType<typeof useFilters>;
