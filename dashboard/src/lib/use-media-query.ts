// Whether the window matches a media query.
import { useCallback, useSyncExternalStore } from 'react';

/** Narrower windows have no space for two panes. */
const WIDE = '(min-width: 64rem)';

export const useIsWide = () => useMediaQuery(WIDE);

export function useMediaQuery(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}
