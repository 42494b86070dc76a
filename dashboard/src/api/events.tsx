// Subscribes to server events, and invalidates the queries that they affect.
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { updateJob } from './jobs';
import { RESULT_KEYS } from './queries';
import type { LiveRun, ServerEvent } from './types';

interface LiveState {
  /** Whether the event stream is connected. */
  isConnected: boolean;
  /** Whether `runs` was received yet. */
  hasReceived: boolean;
  /** Unfinished runs. */
  runs: LiveRun[];
}

const INITIAL_STATE: LiveState = { isConnected: true, hasReceived: false, runs: [] };

export const LiveContext = createContext(INITIAL_STATE);

/** The live state. */
export const useLive = () => useContext(LiveContext);

/**
 * Keeps the connection open while the page is visible. Browsers limit the connections to a server across all tabs, and
 * hidden tabs would use them up.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [live, setLive] = useState(INITIAL_STATE);

  useEffect(() => {
    let source: EventSource | undefined;
    let wasConnected = false;
    const onEvent = (event: MessageEvent<string>) => {
      const serverEvent = JSON.parse(event.data) as ServerEvent;
      if (serverEvent.type === 'live') {
        setLive({ isConnected: true, hasReceived: true, runs: serverEvent.runs });
      }
      invalidate(client, serverEvent);
    };
    const connect = () => {
      source = new EventSource('/api/events');
      for (const type of ['live', 'item', 'job', 'results', 'remote'] satisfies ServerEvent['type'][]) {
        source.addEventListener(type, onEvent);
      }
      source.onopen = () => {
        setLive((live) => ({ ...live, isConnected: true }));
        // Events may have been missed while disconnected.
        if (wasConnected) {
          invalidate(client, { type: 'results' });
          invalidate(client, { type: 'remote' });
          // The server may have been restarted, with another token.
          void client.invalidateQueries({ queryKey: ['session'] });
        }
        wasConnected = true;
      };
      // The browser reconnects automatically.
      source.onerror = () => setLive((live) => ({ ...live, isConnected: false }));
    };
    const disconnect = () => {
      source?.close();
      source = undefined;
    };
    const onVisibilityChange = () => {
      if (document.visibilityState === 'hidden') disconnect();
      else if (source === undefined) connect();
    };
    onVisibilityChange();
    document.addEventListener('visibilitychange', onVisibilityChange);
    return () => {
      document.removeEventListener('visibilitychange', onVisibilityChange);
      disconnect();
    };
  }, [client]);

  return <LiveContext value={live}>{children}</LiveContext>;
}

function invalidate(client: QueryClient, event: ServerEvent) {
  switch (event.type) {
    case 'live':
      for (const run of event.runs.filter((run) => run.state === 'running')) {
        void client.invalidateQueries({ queryKey: ['run', run.id] });
      }
      break;
    case 'results':
      for (const key of [...RESULT_KEYS, 'jobs']) {
        void client.invalidateQueries({ queryKey: [key] });
      }
      break;
    case 'remote':
      void client.invalidateQueries({ queryKey: ['index'] });
      break;
    case 'job':
      updateJob(client, event.job);
      break;
    case 'item':
      break;
  }
}
