// The time as it goes on: what shows it is drawn again by itself.
import { useSyncExternalStore } from 'react';

const EACH_MS = 30_000;

function subscribe(listener: () => void) {
  const timer = setInterval(listener, EACH_MS);
  return () => clearInterval(timer);
}

/** The time in milliseconds, in steps of half a minute. */
export const useNow = () => useSyncExternalStore(subscribe, () => EACH_MS * Math.floor(Date.now() / EACH_MS));
