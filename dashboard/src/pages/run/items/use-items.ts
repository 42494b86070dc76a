// The items that a table shows, asked for page by page as it is scrolled to them.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { type ItemsFilter, itemsQuery } from '../../../api/queries';
import type { ItemRow } from '../../../api/types';
import { type ItemWindow, itemWindow, laterPages } from '../../../lib/item-window';

/** The first page. It tells how many items match, and stays until that of another choice has come. */
export const useFirstPage = (id: string, choice: ItemsFilter) =>
  useQuery({ ...itemsQuery(id, choice, 0), placeholderData: keepPreviousData });

/** The items from one place to another; what was scrolled past before it came is no longer asked for. */
export function useVisibleItems(
  id: string,
  choice: ItemsFilter,
  start: ReturnType<typeof useFirstPage>,
  places: readonly [number, number],
): ItemWindow<ItemRow> {
  const pages = laterPages(start, places);
  const further = useQueries({ queries: pages.map((page) => itemsQuery(id, choice, page)) });
  return itemWindow(start, pages, further);
}
