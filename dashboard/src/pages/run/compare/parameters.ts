// Compare mode, kept in the URL: the run of the page is compared with others.
import { useCallback, useMemo } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { comparisonOf, MAX_COMPARED, runUrl } from '../../../lib/addresses';
import { OF_ITEM } from '../../../lib/item-addresses';
import { useUrlParameters } from '../../../lib/use-url-parameters';

/** The parameters that belong to one set of runs. */
const OF_RUNS = ['compare', 'only', ...OF_ITEM];

/** The compared runs: the reference, the run of the page, and others. None outside compare mode. */
export function useComparedRuns(run: string): string[] {
  const { get } = useUrlParameters();
  const text = get('compare');
  return useMemo(() => {
    const [reference, ...others] = text
      .split(',')
      .filter(Boolean)
      .slice(0, MAX_COMPARED - 1);
    return reference === undefined ? [] : [reference, run, ...others];
  }, [text, run]);
}

/** Changes the compared runs; with fewer than two, compare mode ends. A new entry of the history. */
export function useChooseRuns(run: string) {
  const navigate = useNavigate();
  const { search } = useLocation();
  return useCallback(
    (ids: string[]) => {
      const isOver = ids.length < 2;
      const kept = new URLSearchParams(search);
      for (const name of OF_RUNS) kept.delete(name);
      if (isOver && kept.get('sort')?.startsWith('change')) kept.delete('sort');
      const address = isOver ? runUrl(run) : comparisonOf(ids);
      const query = kept.size === 0 ? '' : `${isOver ? '?' : '&'}${kept}`;
      void navigate(`${address}${query}`, { preventScrollReset: true });
    },
    [navigate, search, run],
  );
}
