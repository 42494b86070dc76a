// The items of a comparison, asked for page by page as the list is scrolled to them.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { type CompareFilter, compareQuery } from '../../api/queries';
import type { ComparedItem } from '../../api/types';
import { type ItemWindow, itemWindow, laterPages } from '../../lib/item-window';

/** The comparison with the first page of its items, which stays until that of another choice has come; `item` is one whose place is wanted. */
export const useComparison = (choice: CompareFilter, item: string) =>
  useQuery({ ...compareQuery(choice, 0, item), placeholderData: keepPreviousData });

/** The items from one place to another. */
export function useVisibleItems(
  choice: CompareFilter,
  start: ReturnType<typeof useComparison>,
  places: readonly [number, number],
): ItemWindow<ComparedItem> {
  const pages = laterPages(start, places);
  const further = useQueries({ queries: pages.map((page) => compareQuery(choice, page)) });
  return itemWindow(start, pages, further);
}
