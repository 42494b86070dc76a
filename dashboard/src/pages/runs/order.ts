// What runs are sorted by.
import type { RunRow, RunVerdict } from '../../api/types';

export const SEVERITY: Record<RunVerdict, number> = { passed: 0, partial: 1, failed: 2, error: 3 };

/** The share of the items at their pass marks; undefined without items. */
export const passedShare = ({ passedItems, totalItems }: RunRow): number | undefined =>
  totalItems === 0 ? undefined : passedItems / totalItems;
