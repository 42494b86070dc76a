// Sorts values of which some are unknown.
import type { SortOrder } from '../components/sort-button';

type Sortable = number | string | null | undefined;

/** Compares two values for `sort`; unknown ones are last in either order. */
export function compareValues(one: Sortable, other: Sortable, order: SortOrder): number {
  const isUnknown = [one == null, other == null] as const;
  if (one == null || other == null) return Number(isUnknown[0]) - Number(isUnknown[1]);
  const sign = order === 'asc' ? 1 : -1;
  return one < other ? -sign : one > other ? sign : 0;
}
