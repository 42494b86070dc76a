// A list that comes in pages, which are asked for as it is scrolled to them. The first one tells how long the list is.
import type { UseQueryResult } from '@tanstack/react-query';
import { PAGE } from '../api/queries';

/** A list from one place to another. */
export interface Between<Item> {
  /** What stands at a place, if it has come. */
  at: (place: number) => Item | undefined;
  error: Error | null;
  retry: () => void;
}

type Start = Pick<UseQueryResult, 'isPlaceholderData'>;

/** The numbers of the pages, but the first, that a part of the list lies on; none, while the list is still another one. */
export function furtherPages(start: Start, [first, last]: readonly [number, number]): number[] {
  const from = Math.max(1, Math.floor(first / PAGE));
  const until = start.isPlaceholderData ? 0 : Math.floor(last / PAGE);
  return Array.from({ length: Math.max(0, until - from + 1) }, (_, place) => from + place);
}

/** The list, of its first page and of further ones by their numbers. */
export function between<Item>(
  start: UseQueryResult<{ items: Item[] }>,
  pages: number[],
  further: UseQueryResult<{ items: Item[] }>[],
): Between<Item> {
  const failed = [start, ...further].find((page) => page.isError);
  return {
    at: (place) => {
      const page = Math.floor(place / PAGE);
      const { data } = page === 0 ? start : (further[pages.indexOf(page)] ?? {});
      return data?.items[place % PAGE];
    },
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
  };
}
