// The items of the table, loaded page by page while scrolling.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { type ItemsFilter, itemsQuery, PAGE_SIZE } from '../../../api/queries';
import type { ItemRow } from '../../../api/types';
import { type ItemWindow, itemWindow } from '../../../lib/item-window';

/** The first page, which has the number of matching items. The previous one is shown until a new filter is loaded. */
export const useFirstPage = (id: string, filter: ItemsFilter) =>
  useQuery({ ...itemsQuery(id, filter, 0), placeholderData: keepPreviousData });

/** The items at places among the matching ones. Requests for pages that were scrolled past are cancelled. */
export function useVisibleItems(
  id: string,
  filter: ItemsFilter,
  start: ReturnType<typeof useFirstPage>,
  places: number[],
): ItemWindow<ItemRow> {
  // While the previous list is still shown, its later pages are unknown.
  const numbers = start.isPlaceholderData ? [] : places.map((place) => Math.floor(place / PAGE_SIZE));
  const pages = [...new Set(numbers)].filter((page) => page > 0);
  const later = useQueries({ queries: pages.map((page) => itemsQuery(id, filter, page)) });
  return itemWindow(start, pages, later);
}
