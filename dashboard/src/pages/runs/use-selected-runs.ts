// The selected runs, kept in the URL.
import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { overviewQuery } from '../../api/queries';
import type { RunRow } from '../../api/types';
import { MAX_COMPARED } from '../../lib/addresses';
import { useUrlParameters } from '../../lib/use-url-parameters';

/** The maximum number of runs to select: an address must not be too long. */
const MAX_SELECTED = 100;

export type SelectedRun = Pick<RunRow, 'id' | 'name' | 'timestamp'>;

export function useSelectedRuns(rows: RunRow[]) {
  const { get, set } = useUrlParameters();
  const text = get('picked');
  const ids = useMemo(() => text.split(',').filter(Boolean).slice(0, MAX_SELECTED), [text]);

  // Selected runs that are not in the list are loaded separately, as many as can be compared.
  const listed = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows]);
  const others = useQueries({
    queries: ids
      .filter((id) => !listed.has(id))
      .slice(0, MAX_COMPARED)
      .map((id) => overviewQuery(id)),
    combine: (results) => results.flatMap(({ data }) => (data === undefined ? [] : [data.run])),
  });
  const known = new Map<string, SelectedRun>(others.map((run) => [run.id, run]));
  const runs = ids
    .flatMap((id): SelectedRun[] => {
      const run = listed.get(id) ?? known.get(id);
      return run === undefined ? [] : [run];
    })
    .sort((one, two) => one.timestamp.localeCompare(two.timestamp));

  const toggle = useCallback(
    (id: string) => {
      const rest = ids.filter((other) => other !== id);
      if (rest.length === ids.length && ids.length === MAX_SELECTED) return;
      const selected = rest.length < ids.length ? rest : [...ids, id];
      set({ picked: selected.join(',') });
    },
    [ids, set],
  );
  const clear = useCallback(() => set({ picked: undefined }), [set]);
  return { ids, runs, toggle, clear, isFull: ids.length === MAX_SELECTED };
}

export type SelectedRuns = ReturnType<typeof useSelectedRuns>;
