// The state of a page in its URL: it can be shared and survives a reload.
import { useCallback } from 'react';
import { useSearchParams } from 'react-router';

/** New values of URL parameters; a list sets a repeated one. An empty value removes the parameter. */
export type UrlChanges = Record<string, string | string[] | undefined>;

/** Reads and changes URL parameters. */
export function useUrlParameters() {
  const [search, setSearch] = useSearchParams();
  const get = (name: string) => search.get(name) ?? '';
  const set = useCallback(
    (changes: UrlChanges, { replace = true } = {}) => {
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(changes)) {
            after.delete(name);
            for (const one of [value ?? []].flat()) if (one !== '') after.append(name, one);
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
