// The runs that are picked to be compared, kept in the page's address.
import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { overviewQuery } from '../../api/queries';
import type { RunRow } from '../../api/types';
import { useParameters } from '../../lib/use-parameters';

/** How many runs can be compared. */
const MOST = 3;

export type Picked = Pick<RunRow, 'id' | 'name' | 'timestamp'>;

export function usePicks(rows: RunRow[]) {
  const { get, set } = useParameters();
  const text = get('picked');
  const ids = useMemo(() => text.split(',').filter(Boolean).slice(0, MOST), [text]);

  // Those that the list does not show at present are asked for by themselves.
  const listed = new Map(rows.map((row) => [row.id, row]));
  const others = useQueries({
    queries: ids.filter((id) => !listed.has(id)).map((id) => overviewQuery(id)),
    combine: (results) => results.flatMap(({ data }) => (data === undefined ? [] : [data.run])),
  });
  const known = new Map<string, Picked>([...others.map((run) => [run.id, run] as const), ...listed]);
  const runs = ids
    .flatMap((id) => known.get(id) ?? [])
    .sort((one, two) => one.timestamp.localeCompare(two.timestamp));

  const toggle = useCallback(
    (id: string) => {
      const rest = ids.filter((other) => other !== id);
      if (rest.length === ids.length && ids.length === MOST) return;
      const picked = rest.length < ids.length ? rest : [...ids, id];
      set({ picked: picked.join(',') });
    },
    [ids, set],
  );
  const clear = useCallback(() => set({ picked: undefined }), [set]);
  return { ids, runs, toggle, clear, isFull: ids.length === MOST };
}

export type Picks = ReturnType<typeof usePicks>;

/** Where runs are compared, given oldest first: the oldest is what the others are held against. */
export function compareAddress(runs: Picked[]): string {
  const names = ['a', 'b', 'c'];
  const query = new URLSearchParams(runs.map((run, place) => [names[place] ?? '', run.id]));
  return `/compare?${query}`;
}
