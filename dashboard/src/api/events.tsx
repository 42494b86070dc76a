// Subscribes to server events, and invalidates the queries that they affect.
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { openEventStream } from './event-stream';
import { updateJob } from './jobs';
import { overviewQuery, RESULT_KEYS } from './queries';
import type { LiveRun, RunState, ServerEvent } from './types';

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

/** A run's overview. It is loaded again if its state is not that of the latest event: the run may have ended while it was loaded. */
export function useOverview(id: string) {
  const client = useQueryClient();
  const { hasReceived, runs } = useLive();
  const overview = useQuery(overviewQuery(id));
  const state = overview.data?.state;
  useEffect(() => {
    const isOutdated = hasReceived && state !== undefined && state !== stateOf(id, runs);
    if (isOutdated) void client.invalidateQueries({ queryKey: ['run', id] });
  }, [client, id, hasReceived, runs, state]);
  return overview;
}

const stateOf = (id: string, unfinished: LiveRun[]): RunState =>
  unfinished.find((run) => run.id === id)?.state ?? 'finished';

/**
 * Keeps the connection open while the page is visible. Browsers limit the connections to a server across all tabs, and
 * hidden tabs would use them up.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [live, setLive] = useState(INITIAL_STATE);

  useEffect(() => {
    let close: (() => void) | undefined;
    let hasMissedEvents = false;
    let runs: LiveRun[] | undefined;
    const onOpen = () => {
      setLive((live) => ({ ...live, isConnected: true }));
      if (hasMissedEvents) {
        invalidateResults(client);
        void client.invalidateQueries({ queryKey: ['index'] });
        // The server may have been restarted, with another token.
        void client.invalidateQueries({ queryKey: ['session'] });
      }
      hasMissedEvents = false;
    };
    const onEvent = (event: ServerEvent) => {
      if (event.type === 'live') {
        setLive({ isConnected: true, hasReceived: true, runs: event.runs });
        if (runs !== undefined && haveStatesChanged(runs, event.runs)) invalidateResults(client);
        runs = event.runs;
      }
      invalidate(client, event);
    };
    const onLost = () => {
      hasMissedEvents = true;
      setLive((live) => ({ ...live, isConnected: false }));
    };
    const connect = () => {
      close = openEventStream({ onOpen, onEvent, onLost });
    };
    const disconnect = () => {
      close?.();
      close = undefined;
      hasMissedEvents = true;
    };
    const onVisibilityChange = () => {
      if (document.visibilityState === 'hidden') disconnect();
      else if (close === undefined) connect();
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

/** Whether a run has started, ended, been interrupted or been resumed. */
function haveStatesChanged(before: LiveRun[], runs: LiveRun[]): boolean {
  const states = new Map(before.map((run) => [run.id, run.state]));
  return runs.length !== before.length || runs.some((run) => states.get(run.id) !== run.state);
}

function invalidateResults(client: QueryClient) {
  for (const key of [...RESULT_KEYS, 'jobs']) {
    void client.invalidateQueries({ queryKey: [key] });
  }
}

function invalidate(client: QueryClient, event: ServerEvent) {
  switch (event.type) {
    case 'live':
      for (const run of event.runs.filter((run) => run.state === 'running')) {
        void client.invalidateQueries({ queryKey: ['run', run.id] });
      }
      break;
    case 'results':
      invalidateResults(client);
      break;
    case 'remote':
      void client.invalidateQueries({ queryKey: ['index'] });
      break;
    case 'job':
      updateJob(client, event.job);
      break;
    case 'alive':
    case 'item':
      break;
  }
}
