// Which items are wanted and in which order, as the page's address has it.
import type { ItemsFilter } from '../../../api/queries';

type State = NonNullable<ItemsFilter['state']>;

/** The states by which items are filtered, in words. */
export const STATE_LABELS: Record<State, string> = {
  passed: 'Passed',
  failing: 'Not passed',
  low: 'Below pass mark',
  error: 'Error',
  timeout: 'Timeout',
  evalError: 'Not scored',
};

export const stateNames = Object.keys(STATE_LABELS) as State[];

/** What makes items fewer. */
const FILTERS = ['search', 'state', 'evaluator', 'minScore', 'maxScore'] as const;

/** Reads an address; what it cannot mean is left out. */
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

export const isFiltered = (choice: ItemsFilter) => FILTERS.some((name) => choice[name] !== undefined);

/** An address without any filter. */
export const UNFILTERED: Record<string, undefined> = Object.fromEntries(
  FILTERS.map((name) => [name, undefined]),
);

/** The next order of a column: the smallest or the worst first, then the other way, then as in the data set. */
export function nextSort(column: string, choice: ItemsFilter): Record<string, string | undefined> {
  const now = choice.sort ?? 'index';
  if (now !== column) return { sort: column === 'index' ? undefined : column, order: undefined };
  if (choice.order !== 'desc') return { order: 'desc' };
  return { sort: undefined, order: undefined };
}

/** By how much a part of a histogram ends before its upper bound: less than any two scores differ by. */
const BIN_EDGE = 1e-9;

/** The filter for the items in one part of a histogram; a part ends before its upper bound, the last one with it. */
export function rangeFilter(evaluator: string, { low, high }: { low: number; high: number }) {
  const last = high >= 1 ? undefined : (high - BIN_EDGE).toFixed(9);
  return { evaluator, minScore: low > 0 ? String(Number(low.toFixed(4))) : undefined, maxScore: last };
}
