// The runs selected for comparison, kept in the URL.
import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { overviewQuery } from '../../api/queries';
import type { RunRow } from '../../api/types';
import { compareUrl as compareRunsUrl, MAX_COMPARED } from '../../lib/compare-url';
import { useUrlParameters } from '../../lib/use-url-parameters';

export type SelectedRun = Pick<RunRow, 'id' | 'name' | 'timestamp'>;

export function useSelectedRuns(rows: RunRow[]) {
  const { get, set } = useUrlParameters();
  const text = get('picked');
  const ids = useMemo(() => text.split(',').filter(Boolean).slice(0, MAX_COMPARED), [text]);

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
      if (rest.length === ids.length && ids.length === MAX_COMPARED) return;
      const selected = rest.length < ids.length ? rest : [...ids, id];
      set({ picked: selected.join(',') });
    },
    [ids, set],
  );
  const clear = useCallback(() => set({ picked: undefined }), [set]);
  return { ids, runs, toggle, clear, isFull: ids.length === MAX_COMPARED };
}

export type SelectedRuns = ReturnType<typeof useSelectedRuns>;

/** The URL of the comparison. Runs are given oldest first; the oldest becomes the reference, and the newest is compared with it. */
export function compareUrl(runs: SelectedRun[]): string {
  const [reference = '', ...others] = runs.map((run) => run.id);
  return compareRunsUrl([reference, ...others.slice(-1), ...others.slice(0, -1)]);
}
