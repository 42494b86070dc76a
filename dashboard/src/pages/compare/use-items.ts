// The items of a comparison, loaded page by page while scrolling.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { type CompareFilter, compareQuery } from '../../api/queries';
import type { ComparedItem } from '../../api/types';
import { type ItemWindow, itemWindow, laterPages } from '../../lib/item-window';

/** The comparison with the first page of its items, and the index of `item`. The previous one is shown until a new one is loaded. */
export const useComparison = (filter: CompareFilter, item: string) =>
  useQuery({ ...compareQuery(filter, 0, item), placeholderData: keepPreviousData });

/** The items in a range. */
export function useVisibleItems(
  filter: CompareFilter,
  start: ReturnType<typeof useComparison>,
  range: readonly [number, number],
): ItemWindow<ComparedItem> {
  const pages = laterPages(start, range);
  const later = useQueries({ queries: pages.map((page) => compareQuery(filter, page)) });
  return itemWindow(start, pages, later);
}
