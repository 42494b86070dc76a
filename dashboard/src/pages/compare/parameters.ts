// Which runs are compared and which of their items are shown, as the address says it.
import { useCallback, useMemo } from 'react';
import type { CompareQuery } from '../../api/types';
import { useUrlParameters } from '../../lib/use-url-parameters';

export const SORTS = [
  { value: 'worst', name: 'Largest drop first' },
  { value: 'best', name: 'Largest gain first' },
  { value: 'change', name: 'Largest change first' },
  { value: 'index', name: 'In the order of the data' },
] as const;

export type Only = NonNullable<CompareQuery['only']>;

/** The parameters that name runs, the baseline first. */
export const SIDES = ['a', 'b', 'c'] as const;

/** What is left of the chosen runs without an empty place between them. */
const nonEmpty = (ids: string[]) => ids.filter((id) => id !== '');

/** The parameters for these runs. */
const runParameters = (ids: string[]) =>
  Object.fromEntries(SIDES.map((side, place) => [side, nonEmpty(ids)[place]]));

/** The address that compares these runs. */
export function compareAddress(ids: string[]): string {
  const names = Object.entries(runParameters(ids)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `/compare?${new URLSearchParams(names)}`;
}

const oneOf = <Value extends string>(value: string, values: readonly Value[], otherwise: Value) =>
  values.find((one) => one === value) ?? otherwise;

const ONLY: readonly Only[] = ['all', 'changed', 'regressed', 'improved'];

/** What is chosen, and how to choose. */
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
    // Another comparison is another place, to which one can go back. Its runs may have other evaluators.
    (chosen: string[]) =>
      set({ a: '', b: '', c: '', item: '', evaluator: '', ...runParameters(chosen) }, { replace: false }),
    [set],
  );
  return { ids, chooseRuns: chooseRuns, search, evaluator, sort, defaultSort: defaultSort, only, item, set };
}

export type CompareParameters = ReturnType<typeof useCompareParameters>;
