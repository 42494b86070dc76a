// Whether the window is as a media query says.
import { useSyncExternalStore } from 'react';

export function useMedia(query: string): boolean {
  const subscribe = (listener: () => void) => {
    const list = window.matchMedia(query);
    list.addEventListener('change', listener);
    return () => list.removeEventListener('change', listener);
  };
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}
