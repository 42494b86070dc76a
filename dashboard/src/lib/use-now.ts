// The current time. Components that use it re-render regularly.
import { useSyncExternalStore } from 'react';

const INTERVAL_MS = 30_000;

function subscribe(listener: () => void) {
  const timer = setInterval(listener, INTERVAL_MS);
  return () => clearInterval(timer);
}

/** The time in milliseconds, in steps of 30 seconds. */
export const useNow = () =>
  useSyncExternalStore(subscribe, () => INTERVAL_MS * Math.floor(Date.now() / INTERVAL_MS));
