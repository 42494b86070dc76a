// The state of a page in its URL: it can be shared and survives a reload.
import { useCallback } from 'react';
import { useSearchParams } from 'react-router';

/** Reads and changes URL parameters. Setting one to an empty value removes it. */
export function useUrlParameters() {
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
        // Synchronous: fields show the URL's values, and the next change builds on this one.
        { replace, preventScrollReset: true, flushSync: true },
      );
    },
    [setSearch],
  );
  return { get, set, search };
}
