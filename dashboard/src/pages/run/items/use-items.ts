// The items of the table, loaded page by page while scrolling.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { type ItemsFilter, itemsQuery } from '../../../api/queries';
import type { ItemRow } from '../../../api/types';
import { type ItemWindow, itemWindow, laterPages } from '../../../lib/item-window';

/** The first page, which has the number of matching items. The previous one is shown until a new filter is loaded. */
export const useFirstPage = (id: string, filter: ItemsFilter) =>
  useQuery({ ...itemsQuery(id, filter, 0), placeholderData: keepPreviousData });

/** The items in a range. Requests for pages that were scrolled past are cancelled. */
export function useVisibleItems(
  id: string,
  filter: ItemsFilter,
  start: ReturnType<typeof useFirstPage>,
  range: readonly [number, number],
): ItemWindow<ItemRow> {
  const pages = laterPages(start, range);
  const later = useQueries({ queries: pages.map((page) => itemsQuery(id, filter, page)) });
  return itemWindow(start, pages, later);
}
