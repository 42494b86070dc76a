// The items of a comparison, asked for page by page as the list is scrolled to them.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { type CompareChoice, compareQuery } from '../../api/queries';
import type { ComparedItem } from '../../api/types';
import { type Between, between, furtherPages } from '../../lib/pages';

/** The comparison with the first page of its items, which stays until that of another choice has come; `item` is one whose place is wanted. */
export const useCompared = (choice: CompareChoice, item: string) =>
  useQuery({ ...compareQuery(choice, 0, item), placeholderData: keepPreviousData });

/** The items from one place to another. */
export function useItemsBetween(
  choice: CompareChoice,
  start: ReturnType<typeof useCompared>,
  places: readonly [number, number],
): Between<ComparedItem> {
  const pages = furtherPages(start, places);
  const further = useQueries({ queries: pages.map((page) => compareQuery(choice, page)) });
  return between(start, pages, further);
}
