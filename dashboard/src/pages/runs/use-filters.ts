// What is asked for on the page of runs, as its address says.
import { useCallback, useMemo } from 'react';
import type { RunsQuery, RunVerdict } from '../../api/types';
import { dayBoundary } from '../../lib/format';
import { useUrlParameters } from '../../lib/use-url-parameters';

export type Sort = NonNullable<RunsQuery['sort']>;
export type Order = NonNullable<RunsQuery['order']>;

/** What runs are filtered by, in the order in which it is shown. */
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
  cost: 'Cost',
};

export const VERDICTS: Record<RunVerdict, string> = {
  passed: 'Passed',
  failed: 'Failed',
  error: 'Error',
  partial: 'Partial',
};

/** How many runs the small lines are drawn of. */
const RECENT = 12;

/** Which way a list is sorted where nothing else is chosen: names from A, all else from the top. */
const defaultOrder = (sort: Sort): Order => (sort === 'name' ? 'asc' : 'desc');

const keyOf = <Known extends string>(known: Record<Known, unknown>, given: string): Known | undefined =>
  Object.hasOwn(known, given) ? (given as Known) : undefined;

export function useFilters() {
  const { get, set, search: address } = useUrlParameters();
  const sort = keyOf(SORTS, get('sort')) ?? 'timestamp';
  const order = keyOf({ asc: 0, desc: 0 }, get('order')) ?? defaultOrder(sort);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `get` reads the address
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
    [address, sort, order],
  );

  // The days are those of the times that the list shows: where the browser is, not in UTC.
  const apiQuery = useMemo(
    (): RunsQuery => ({
      ...query,
      since: query.since && dayBoundary(query.since, 'start'),
      until: query.until && dayBoundary(query.until, 'end'),
    }),
    [query],
  );

  /** Sorts by something, from where it usually begins. */
  const sortBy = (chosen: Sort) =>
    set({ sort: chosen === 'timestamp' ? undefined : chosen, order: undefined });
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
    apiQuery: apiQuery,
    sort,
    order,
    sortBy,
    reverseOrder: reverseOrder,
    set,
    clear,
    active: FILTERS.filter((it) => query[it]),
  };
}

export type Filters = ReturnType<typeof useFilters>;
