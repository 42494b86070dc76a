// The items that a table shows, asked for page by page as it is scrolled to them.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { type ItemsChoice, itemsQuery } from '../../../api/queries';
import type { ItemRow } from '../../../api/types';
import { type Between, between, furtherPages } from '../../../lib/pages';

/** The first page. It tells how many items match, and stays until that of another choice has come. */
export const useFirstItems = (id: string, choice: ItemsChoice) =>
  useQuery({ ...itemsQuery(id, choice, 0), placeholderData: keepPreviousData });

/** The items from one place to another; what was scrolled past before it came is no longer asked for. */
export function useItemsBetween(
  id: string,
  choice: ItemsChoice,
  start: ReturnType<typeof useFirstItems>,
  places: readonly [number, number],
): Between<ItemRow> {
  const pages = furtherPages(start, places);
  const further = useQueries({ queries: pages.map((page) => itemsQuery(id, choice, page)) });
  return between(start, pages, further);
}
