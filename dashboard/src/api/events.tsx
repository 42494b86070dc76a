// Listens to what happens on the server, and renews what the page has asked for.
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import type { Happening, LiveRun } from './types';

interface Live {
  /** Whether events come. */
  isConnected: boolean;
  /** Whether `runs` was told at all. */
  hasHeard: boolean;
  /** The runs that have not ended. */
  runs: LiveRun[];
}

const BEFORE: Live = { isConnected: true, hasHeard: false, runs: [] };

export const LiveContext = createContext(BEFORE);

/** What is going on now. */
export const useLive = () => useContext(LiveContext);

/**
 * Keeps a connection open while the page is seen: browsers have few for all tabs of a server together, and a tab that is
 * hidden would hold one of them back from the others.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [live, setLive] = useState(BEFORE);

  useEffect(() => {
    let source: EventSource | undefined;
    let hasListened = false;
    const hear = (event: MessageEvent<string>) => {
      const happening = JSON.parse(event.data) as Happening;
      if (happening.type === 'live') {
        setLive({ isConnected: true, hasHeard: true, runs: happening.runs });
      }
      renew(client, happening);
    };
    const listen = () => {
      source = new EventSource('/api/events');
      for (const type of ['live', 'item', 'results'] satisfies Happening['type'][]) {
        source.addEventListener(type, hear);
      }
      source.onopen = () => {
        setLive((live) => ({ ...live, isConnected: true }));
        // What happened while nobody listened may be anything.
        if (hasListened) renew(client, { type: 'results' });
        hasListened = true;
      };
      // The browser tries again by itself.
      source.onerror = () => setLive((live) => ({ ...live, isConnected: false }));
    };
    const stop = () => {
      source?.close();
      source = undefined;
    };
    const look = () => {
      if (document.visibilityState === 'hidden') stop();
      else if (source === undefined) listen();
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      stop();
    };
  }, [client]);

  return <LiveContext value={live}>{children}</LiveContext>;
}

function renew(client: QueryClient, happening: Happening) {
  switch (happening.type) {
    case 'live':
      for (const run of happening.runs.filter((run) => run.state === 'running')) {
        void client.invalidateQueries({ queryKey: ['run', run.id] });
      }
      break;
    case 'results':
      for (const key of ['runs', 'run', 'compare', 'trends']) {
        void client.invalidateQueries({ queryKey: [key] });
      }
      break;
    case 'item':
      break;
  }
}
