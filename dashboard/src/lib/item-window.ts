// A list that is loaded page by page while scrolling. The first page has the length of the list.
import type { UseQueryResult } from '@tanstack/react-query';
import { PAGE_SIZE } from '../api/queries';

/** The loaded part of a list. */
export interface ItemWindow<Item> {
  /** The item at an index; undefined until it is loaded. */
  at: (index: number) => Item | undefined;
  error: Error | null;
  retry: () => void;
}

type FirstPage = Pick<UseQueryResult, 'isPlaceholderData'>;

/** The numbers of the pages in a range of items, except the first page. None while the previous list is still shown. */
export function laterPages(start: FirstPage, [first, last]: readonly [number, number]): number[] {
  const from = Math.max(1, Math.floor(first / PAGE_SIZE));
  const until = start.isPlaceholderData ? 0 : Math.floor(last / PAGE_SIZE);
  return Array.from({ length: Math.max(0, until - from + 1) }, (_, index) => from + index);
}

/** Combines the first page with later pages, given by their numbers. */
export function itemWindow<Item>(
  start: UseQueryResult<{ items: Item[] }>,
  pages: number[],
  later: UseQueryResult<{ items: Item[] }>[],
): ItemWindow<Item> {
  const failed = [start, ...later].find((page) => page.isError);
  return {
    at: (index) => {
      const page = Math.floor(index / PAGE_SIZE);
      const { data } = page === 0 ? start : (later[pages.indexOf(page)] ?? {});
      return data?.items[index % PAGE_SIZE];
    },
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
  };
}
