// Filters and sort order of the items, kept in the URL.
import type { ItemsFilter } from '../../../api/queries';

export type ItemState = NonNullable<ItemsFilter['state']>;

/** The labels of the item states. */
export const STATE_LABELS: Record<ItemState, string> = {
  passed: 'Passed',
  failing: 'Failed',
  low: 'Below pass mark',
  error: 'Error',
  timeout: 'Timeout',
  evalError: 'Scoring error',
  diverged: 'Diverged',
  retried: 'Retried',
};

export const stateNames = Object.keys(STATE_LABELS) as ItemState[];

const FILTERS = ['search', 'state', 'evaluator', 'minScore', 'maxScore'] as const;

/** Parses URL parameters; invalid values are ignored. */
export function parseFilter(search: URLSearchParams): ItemsFilter {
  const text = (name: string) => search.get(name) || undefined;
  const share = (name: string) => {
    const value = Number.parseFloat(search.get(name) ?? '');
    return value >= 0 && value <= 1 ? value : undefined;
  };
  const order = text('order');
  return {
    search: text('search'),
    state: stateNames.find((state) => state === text('state')),
    evaluator: text('evaluator'),
    minScore: share('minScore'),
    maxScore: share('maxScore'),
    sort: text('sort'),
    order: order === 'asc' || order === 'desc' ? order : undefined,
  };
}

export const isFiltered = (filter: ItemsFilter) => FILTERS.some((name) => filter[name] !== undefined);

/** URL parameters that remove all filters. */
export const UNFILTERED: Record<string, undefined> = Object.fromEntries(
  FILTERS.map((name) => [name, undefined]),
);

/** The filter for the items in a state, without any other. */
export const stateFilter = (state: ItemState) => ({ ...UNFILTERED, state });

/** The next sort order of a column: smallest or worst first, then reversed, then dataset order. */
export function nextSort(column: string, filter: ItemsFilter): Record<string, string | undefined> {
  const current = filter.sort ?? 'index';
  if (current !== column) return { sort: column === 'index' ? undefined : column, order: undefined };
  if (filter.order !== 'desc') return { order: 'desc' };
  return { sort: undefined, order: undefined };
}

/** Excludes a bin's upper bound. Smaller than the difference of any two scores. */
const BIN_EDGE = 1e-9;

/** The filter for a bin of a histogram. Bins exclude their upper bound, except the last. */
export function rangeFilter(evaluator: string, { low, high }: { low: number; high: number }) {
  const last = high >= 1 ? undefined : (high - BIN_EDGE).toFixed(9);
  return { evaluator, minScore: low > 0 ? String(Number(low.toFixed(4))) : undefined, maxScore: last };
}
