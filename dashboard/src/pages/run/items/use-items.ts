// The items that a table shows, asked for page by page as it is scrolled to them.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { type ItemsChoice, itemsQuery, PAGE } from '../../../api/queries';
import type { ItemRow } from '../../../api/types';

/** The first page. It tells how many items match, and stays until that of another choice has come. */
export const useFirstItems = (id: string, choice: ItemsChoice) =>
  useQuery({ ...itemsQuery(id, choice, 0), placeholderData: keepPreviousData });

interface ItemsBetween {
  /** The item at a place among those that match, if it has come. */
  at: (place: number) => ItemRow | undefined;
  error: Error | null;
  retry: () => void;
}

/** The items from one place to another; what was scrolled past before it came is no longer asked for. */
export function useItemsBetween(
  id: string,
  choice: ItemsChoice,
  start: ReturnType<typeof useFirstItems>,
  [first, last]: readonly [number, number],
): ItemsBetween {
  const from = Math.max(1, Math.floor(first / PAGE));
  const until = start.isPlaceholderData ? 0 : Math.floor(last / PAGE);
  const pages = Array.from({ length: Math.max(0, until - from + 1) }, (_, place) => from + place);
  const others = useQueries({ queries: pages.map((page) => itemsQuery(id, choice, page)) });
  const failed = [start, ...others].find((page) => page.isError);
  return {
    at: (place) => {
      const page = Math.floor(place / PAGE);
      const { data } = page === 0 ? start : (others[page - from] ?? {});
      return data?.items[place % PAGE];
    },
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
  };
}
