// Filters, order and groups of the items, kept in the URL.
import type { ItemsFilter } from '../../../api/queries';
import type { UrlChanges } from '../../../lib/use-url-parameters';
import { parseCondition } from './condition';
import { columnsText, isField, parseColumns } from './layout';

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

const CHANGES = ['regressed', 'improved', 'changed'] as const;

/** Parses URL parameters; invalid values are ignored. */
export function parseFilter(search: URLSearchParams): ItemsFilter {
  const text = (name: string) => search.get(name) || undefined;
  const order = text('order');
  const compare = text('compare');
  const where = search.getAll('where').filter((condition) => parseCondition(condition) !== undefined);
  const columns = columnsText((parseColumns(search) ?? []).filter(isField));
  return {
    search: text('search'),
    state: stateNames.find((state) => state === text('state')),
    where: where.length > 0 ? where : undefined,
    sort: parseSort(text('sort'), compare !== undefined),
    order: order === 'asc' || order === 'desc' ? order : undefined,
    group: text('group'),
    columns: columns || undefined,
    compare,
    only: compare === undefined ? undefined : CHANGES.find((change) => change === text('only')),
  };
}

/** In compare mode, the largest regressions come first by default; outside of it, there are no changes to sort by. */
function parseSort(sort: string | undefined, isCompared: boolean): string | undefined {
  if (isCompared) return sort ?? 'change';
  return sort?.startsWith('change') ? undefined : sort;
}

/** The order without one in the URL. */
export const usualSort = ({ compare }: ItemsFilter) => (compare === undefined ? 'index' : 'change');

const FILTERS = ['search', 'state', 'where', 'only'] as const;

export const isFiltered = (filter: ItemsFilter) => FILTERS.some((name) => filter[name] !== undefined);

/** URL parameters that remove all filters. */
export const UNFILTERED: UrlChanges = Object.fromEntries(FILTERS.map((name) => [name, undefined]));

/** The filter for the items in a state, without any other. */
export const stateFilter = (state: ItemState): UrlChanges => ({ ...UNFILTERED, state });

/** The next sort order of a column: smallest or worst first, then reversed, then the usual one. */
export function nextSort(column: string, filter: ItemsFilter): UrlChanges {
  const usual = usualSort(filter);
  if ((filter.sort ?? usual) !== column)
    return { sort: column === usual ? undefined : column, order: undefined };
  if (filter.order !== 'desc') return { sort: filter.sort, order: 'desc' };
  return { sort: undefined, order: undefined };
}

/** The bounds of scores. */
export interface ScoreRange {
  low: number;
  high: number;
}

/** The column of an evaluator's scores. */
export const scoreColumn = (evaluator: string) => `score.${evaluator}`;

const number = (value: number) => String(Number(value.toFixed(4)));

/** The conditions for a bin of a distribution. Bins exclude their upper bound, except the last. */
export function rangeConditions(evaluator: string, { low, high }: ScoreRange): string[] {
  const column = scoreColumn(evaluator);
  const from = low > 0 ? [`${column}>=${number(low)}`] : [];
  return high < 1 ? [...from, `${column}<${number(high)}`] : from;
}

/** Whether exactly the bin is shown. */
export function isRangeShown(filter: ItemsFilter, evaluator: string, range: ScoreRange): boolean {
  const shown = ofScore(filter, evaluator);
  const bin = rangeConditions(evaluator, range);
  return bin.length > 0 && bin.length === shown.length && bin.every((condition) => shown.includes(condition));
}

/** What follows the name of the column; the name of another evaluator may begin with it. */
const BOUND = /^(!=|<=|>=|=|<|>)-?[\d.]+$/;

const ofScore = ({ where = [] }: ItemsFilter, evaluator: string) => {
  const prefix = scoreColumn(evaluator);
  return where.filter(
    (condition) => condition.startsWith(prefix) && BOUND.test(condition.slice(prefix.length)),
  );
};

/** Shows the items in a bin of a distribution, or all if they are shown already. */
export function toggleRange(filter: ItemsFilter, evaluator: string, range: ScoreRange): UrlChanges {
  const before = ofScore(filter, evaluator);
  const others = (filter.where ?? []).filter((condition) => !before.includes(condition));
  if (isRangeShown(filter, evaluator, range)) return { where: others };
  return { where: [...others, ...rangeConditions(evaluator, range)] };
}
