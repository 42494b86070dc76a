// What the pages ask for. All of a run's answers share the beginning of their keys, so that an event can renew them.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { get } from './client';
import type {
  Compared,
  CompareQuery,
  Index,
  Items,
  ItemsQuery,
  Overview,
  Runs,
  RunsQuery,
  Trends,
  TrendsQuery,
  WholeItem,
} from './types';

/** How many items, or runs, are asked for at a time. */
export const PAGE = 100;

const inPath = encodeURIComponent;

export const indexQuery = () =>
  queryOptions({ queryKey: ['index'], queryFn: ({ signal }) => get<Index>('/api', {}, signal) });

export const runsQuery = (query: RunsQuery) =>
  queryOptions({
    queryKey: ['runs', query],
    queryFn: ({ signal }) => get<Runs>('/api/runs', query, signal),
    placeholderData: keepPreviousData,
  });

/** The runs, page by page as the list is scrolled. */
export const runPagesQuery = (query: Omit<RunsQuery, 'limit' | 'offset'>) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'pages', query],
    queryFn: ({ signal, pageParam }) =>
      get<Runs>('/api/runs', { ...query, limit: PAGE, offset: pageParam }, signal),
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
    queryFn: ({ signal }) => get<Overview>(`/api/runs/${inPath(id)}/overview`, {}, signal),
  });

/** Which items of a run, and in which order, whatever page of them. */
export type ItemsChoice = Omit<ItemsQuery, 'limit' | 'offset'>;

/** A page of the items of a run, counted from 0. */
export const itemsQuery = (id: string, query: ItemsChoice, page: number) =>
  queryOptions({
    queryKey: ['run', id, 'items', query, page],
    queryFn: ({ signal }) =>
      get<Items>(`/api/runs/${inPath(id)}/items`, { ...query, limit: PAGE, offset: page * PAGE }, signal),
    // What was scrolled past long ago is not kept: a run may have many thousands of items.
    gcTime: 60_000,
  });

export const itemQuery = (id: string, key: string, query: ItemsChoice) =>
  queryOptions({
    queryKey: ['run', id, 'item', key, query],
    queryFn: ({ signal }) => get<WholeItem>(`/api/runs/${inPath(id)}/items/${inPath(key)}`, query, signal),
    placeholderData: keepPreviousData,
    // An item may be large.
    gcTime: 60_000,
  });

/** Which runs are compared, and which of their items are shown, whatever page of them. */
export type CompareChoice = Omit<CompareQuery, 'limit' | 'offset' | 'item'>;

/** The comparison of runs with a page of their items, counted from 0, and the place of the one with the key `item`. */
export const compareQuery = (query: CompareChoice, page: number, item = '') =>
  queryOptions({
    queryKey: ['compare', query, page, item],
    queryFn: ({ signal }) =>
      get<Compared>('/api/compare', { ...query, item, limit: PAGE, offset: page * PAGE }, signal),
    gcTime: 60_000,
  });

export const trendsQuery = (query: TrendsQuery) =>
  queryOptions({
    queryKey: ['trends', query],
    queryFn: ({ signal }) => get<Trends>('/api/trends', query, signal),
    placeholderData: keepPreviousData,
  });
