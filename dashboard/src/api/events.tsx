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

/** Keeps a connection open for as long as the page is. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [live, setLive] = useState(BEFORE);

  useEffect(() => {
    const source = new EventSource('/api/events');
    const hear = (event: MessageEvent<string>) => {
      const happening = JSON.parse(event.data) as Happening;
      if (happening.type === 'live') {
        setLive({ isConnected: true, hasHeard: true, runs: happening.runs });
      }
      renew(client, happening);
    };
    for (const type of ['live', 'item', 'results'] satisfies Happening['type'][]) {
      source.addEventListener(type, hear);
    }
    source.onopen = () => setLive((live) => ({ ...live, isConnected: true }));
    // The browser tries again by itself.
    source.onerror = () => setLive((live) => ({ ...live, isConnected: false }));
    return () => source.close();
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
