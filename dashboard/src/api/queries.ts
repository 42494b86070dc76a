// The queries of the pages. All queries of a run share a key prefix, which lets an event invalidate them together.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { getJson } from './client';
import type {
  ComparedRuns,
  Experiments,
  Index,
  Items,
  ItemsQuery,
  Matrix,
  MatrixQuery,
  Overview,
  Ranking,
  Runs,
  RunsQuery,
  Trends,
  TrendsQuery,
  VariantGroup,
  WholeItem,
} from './types';

/** The keys of all queries that depend on results; those of one run begin with `run`. */
export const RESULT_KEYS = ['experiments', 'runs', 'run', 'compare', 'ranking', 'group', 'matrix', 'trends'];

/** Items or runs per request. */
export const PAGE_SIZE = 100;

const encode = encodeURIComponent;

export const indexQuery = () =>
  queryOptions({ queryKey: ['index'], queryFn: ({ signal }) => getJson<Index>('/api', {}, signal) });

export const runsQuery = (query: RunsQuery) =>
  queryOptions({
    queryKey: ['runs', query],
    queryFn: ({ signal }) => getJson<Runs>('/api/runs', query, signal),
    placeholderData: keepPreviousData,
  });

export const experimentsQuery = () =>
  queryOptions({
    queryKey: ['experiments'],
    queryFn: ({ signal }) => getJson<Experiments>('/api/experiments', {}, signal),
  });

/** The runs, loaded page by page while scrolling. */
export const runPagesQuery = (query: Omit<RunsQuery, 'limit' | 'offset'>) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'pages', query],
    queryFn: ({ signal, pageParam }) =>
      getJson<Runs>('/api/runs', { ...query, limit: PAGE_SIZE, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (last: Runs, pages) => {
      const loaded = pages.reduce((count, page) => count + page.runs.length, 0);
      return loaded < last.matching && last.runs.length > 0 ? loaded : undefined;
    },
    placeholderData: keepPreviousData,
  });

export const overviewQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id, 'overview'],
    queryFn: ({ signal }) => getJson<Overview>(`/api/runs/${encode(id)}/overview`, {}, signal),
  });

/** Filters and order of the items of a run. */
export type ItemsFilter = Omit<ItemsQuery, 'limit' | 'offset'>;

/** One page of the items of a run; `page` starts at 0. */
export const itemsQuery = (id: string, query: ItemsFilter, page: number) =>
  queryOptions({
    queryKey: ['run', id, 'items', query, page],
    queryFn: ({ signal }) =>
      getJson<Items>(
        `/api/runs/${encode(id)}/items`,
        { ...query, limit: PAGE_SIZE, offset: page * PAGE_SIZE },
        signal,
      ),
    // Dropped early: a run may have many thousands of items.
    gcTime: 60_000,
  });

export const itemQuery = (id: string, key: string, query: ItemsFilter) =>
  queryOptions({
    queryKey: ['run', id, 'item', key, query],
    queryFn: ({ signal }) =>
      getJson<WholeItem>(`/api/runs/${encode(id)}/items/${encode(key)}`, query, signal),
    placeholderData: keepPreviousData,
    // Dropped early: an item may be large.
    gcTime: 60_000,
  });

const sides = (runs: string[]) =>
  Object.fromEntries(runs.map((run, place) => [String.fromCharCode(97 + place), run]));

/** The runs compared with the first, without their items. */
export const comparisonQuery = (runs: string[]) =>
  queryOptions({
    queryKey: ['compare', runs],
    queryFn: ({ signal }) => getJson<ComparedRuns>('/api/compare', { ...sides(runs), limit: 0 }, signal),
    placeholderData: keepPreviousData,
  });

/** An item in each of the runs; null if none has it. */
export const comparedItemQuery = (runs: string[], key: string) =>
  queryOptions({
    queryKey: ['compare', runs, 'item', key],
    queryFn: async ({ signal }) => {
      const query = { ...sides(runs), sort: 'index' };
      const { itemAt } = await getJson<ComparedRuns>(
        '/api/compare',
        { ...query, item: key, limit: 0 },
        signal,
      );
      if (itemAt === null) return null;
      const { items } = await getJson<ComparedRuns>(
        '/api/compare',
        { ...query, offset: itemAt, limit: 1 },
        signal,
      );
      return items[0] ?? null;
    },
    gcTime: 60_000,
  });

export const rankingQuery = (runs: string[]) =>
  queryOptions({
    queryKey: ['ranking', runs],
    queryFn: ({ signal }) => getJson<Ranking>('/api/ranking', { runs: runs.join() }, signal),
  });

export const groupQuery = (group: string) =>
  queryOptions({
    queryKey: ['group', group],
    queryFn: ({ signal }) => getJson<VariantGroup>(`/api/groups/${encode(group)}`, {}, signal),
  });

/** The runs of a matrix, and filters of its items. */
export type MatrixFilter = Omit<MatrixQuery, 'limit' | 'offset'>;

/** One page of the items of several runs; `page` starts at 0. */
export const matrixQuery = (query: MatrixFilter, page: number) =>
  queryOptions({
    queryKey: ['matrix', query, page],
    queryFn: ({ signal }) =>
      getJson<Matrix>('/api/matrix', { ...query, limit: PAGE_SIZE, offset: page * PAGE_SIZE }, signal),
    gcTime: 60_000,
  });

export const trendsQuery = (query: TrendsQuery) =>
  queryOptions({
    queryKey: ['trends', query],
    queryFn: ({ signal }) => getJson<Trends>('/api/trends', query, signal),
    placeholderData: keepPreviousData,
  });
