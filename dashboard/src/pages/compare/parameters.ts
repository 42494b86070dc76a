// The compared runs, and the filters and order of their items, kept in the URL.
import { useCallback, useMemo } from 'react';
import type { CompareQuery } from '../../api/types';
import { useUrlParameters } from '../../lib/use-url-parameters';

export const SORTS = [
  { value: 'worst', name: 'Largest drop first' },
  { value: 'best', name: 'Largest gain first' },
  { value: 'change', name: 'Largest change first' },
  { value: 'index', name: 'Dataset order' },
] as const;

export type Only = NonNullable<CompareQuery['only']>;

/** The URL parameters of the runs, run A first. */
export const SIDES = ['a', 'b', 'c'] as const;

/** Removes unset runs. */
const nonEmpty = (ids: string[]) => ids.filter((id) => id !== '');

/** The URL parameters for these runs. */
const runParameters = (ids: string[]) =>
  Object.fromEntries(SIDES.map((side, place) => [side, nonEmpty(ids)[place]]));

/** The URL of the comparison of these runs. */
export function compareUrl(ids: string[]): string {
  const names = Object.entries(runParameters(ids)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `/compare?${new URLSearchParams(names)}`;
}

/** The URL of the ranking of these runs. */
export const rankingUrl = (ids: string[]) => `/ranking?${new URLSearchParams({ runs: ids.join() })}`;

const oneOf = <Value extends string>(value: string, values: readonly Value[], otherwise: Value) =>
  values.find((one) => one === value) ?? otherwise;

const ONLY: readonly Only[] = ['all', 'changed', 'regressed', 'improved'];

/** The state of the page, and how to change it. */
export function useCompareParameters() {
  const { get, set } = useUrlParameters();
  const [a, b, c] = [get('a'), get('b'), get('c')];
  const ids = useMemo(() => nonEmpty([a, b, c]), [a, b, c]);
  const [search, evaluator, item] = [get('search'), get('evaluator'), get('item')];
  const only = oneOf(get('only'), ONLY, 'all');
  const defaultSort = only === 'improved' ? 'best' : 'worst';
  const sort = oneOf(
    get('sort'),
    SORTS.map((one) => one.value),
    defaultSort,
  );
  const chooseRuns = useCallback(
    // A new history entry. The evaluator is reset, since the runs may have other evaluators.
    (runs: string[]) =>
      set({ a: '', b: '', c: '', item: '', evaluator: '', ...runParameters(runs) }, { replace: false }),
    [set],
  );
  return { ids, chooseRuns, search, evaluator, sort, defaultSort, only, item, set };
}

export type CompareParameters = ReturnType<typeof useCompareParameters>;
