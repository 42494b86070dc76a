// The runs selected for comparison, kept in the URL.
import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { overviewQuery } from '../../api/queries';
import type { RunRow } from '../../api/types';
import { useUrlParameters } from '../../lib/use-url-parameters';
import { compareUrl as compareRunsUrl, rankingUrl, SIDES } from '../compare/parameters';

/** The maximum number of runs to compare. */
const MAX_RUNS = 8;

export type SelectedRun = Pick<RunRow, 'id' | 'name' | 'timestamp'>;

export function useSelectedRuns(rows: RunRow[]) {
  const { get, set } = useUrlParameters();
  const text = get('picked');
  const ids = useMemo(() => text.split(',').filter(Boolean).slice(0, MAX_RUNS), [text]);

  // Selected runs that are not in the list are loaded separately.
  const listed = new Map(rows.map((row) => [row.id, row]));
  const others = useQueries({
    queries: ids.filter((id) => !listed.has(id)).map((id) => overviewQuery(id)),
    combine: (results) => results.flatMap(({ data }) => (data === undefined ? [] : [data.run])),
  });
  const known = new Map<string, SelectedRun>([...others.map((run) => [run.id, run] as const), ...listed]);
  const runs = ids
    .flatMap((id) => known.get(id) ?? [])
    .sort((one, two) => one.timestamp.localeCompare(two.timestamp));

  const toggle = useCallback(
    (id: string) => {
      const rest = ids.filter((other) => other !== id);
      if (rest.length === ids.length && ids.length === MAX_RUNS) return;
      const selected = rest.length < ids.length ? rest : [...ids, id];
      set({ picked: selected.join(',') });
    },
    [ids, set],
  );
  const clear = useCallback(() => set({ picked: undefined }), [set]);
  return { ids, runs, toggle, clear, isFull: ids.length === MAX_RUNS };
}

export type SelectedRuns = ReturnType<typeof useSelectedRuns>;

/** The URL of the comparison or, for more runs than it has places, of the ranking. Runs are given oldest first; the oldest becomes run A. */
export function compareUrl(runs: SelectedRun[]): string {
  const ids = runs.map((run) => run.id);
  return ids.length > SIDES.length ? rankingUrl(ids) : compareRunsUrl(ids);
}
