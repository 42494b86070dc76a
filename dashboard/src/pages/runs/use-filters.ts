// What is asked for on the page of runs, as its address says.
import { useCallback, useMemo } from 'react';
import type { RunsQuery, RunVerdict } from '../../api/types';
import { edgeOfDay } from '../../lib/format';
import { useParameters } from '../../lib/use-parameters';

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
const usual = (sort: Sort): Order => (sort === 'name' ? 'asc' : 'desc');

const among = <Known extends string>(known: Record<Known, unknown>, given: string): Known | undefined =>
  Object.hasOwn(known, given) ? (given as Known) : undefined;

export function useFilters() {
  const { get, set, search: address } = useParameters();
  const sort = among(SORTS, get('sort')) ?? 'timestamp';
  const order = among({ asc: 0, desc: 0 }, get('order')) ?? usual(sort);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `get` reads the address
  const query = useMemo(
    (): RunsQuery => ({
      search: get('search') || undefined,
      experiment: get('experiment') || undefined,
      verdict: among(VERDICTS, get('verdict')),
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
  const asked = useMemo(
    (): RunsQuery => ({
      ...query,
      since: query.since && edgeOfDay(query.since, 'start'),
      until: query.until && edgeOfDay(query.until, 'end'),
    }),
    [query],
  );

  /** Sorts by something, from where it usually begins. */
  const sortBy = (chosen: Sort) =>
    set({ sort: chosen === 'timestamp' ? undefined : chosen, order: undefined });
  const turn = () => {
    const other = order === 'asc' ? 'desc' : 'asc';
    set({ order: other === usual(sort) ? undefined : other });
  };
  const clear = useCallback(
    () => set(Object.fromEntries(FILTERS.map((filter) => [filter, undefined]))),
    [set],
  );

  return { query, asked, sort, order, sortBy, turn, set, clear, active: FILTERS.filter((it) => query[it]) };
}

export type Filters = ReturnType<typeof useFilters>;
