// What is chosen on a page, kept in its address, so that it can be shared and survives a reload.
import { useCallback } from 'react';
import { useSearchParams } from 'react-router';

/** The parameters of the address by their names, and how to change some of them: an empty one is left out. */
export function useParameters() {
  const [search, setSearch] = useSearchParams();
  const get = (name: string) => search.get(name) ?? '';
  const set = useCallback(
    (changes: Record<string, string | undefined>, { replace = true } = {}) => {
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(changes)) {
            if (value === undefined || value === '') after.delete(name);
            else after.set(name, value);
          }
          return after;
        },
        // Drawn at once: fields show what the address says, and the next change builds on this one.
        { replace, preventScrollReset: true, flushSync: true },
      );
    },
    [setSearch],
  );
  return { get, set, search };
}
