// Modules that are loaded on first use. Unlike with React's `lazy`, a module is shown as soon as it is loaded, and a failure can be retried.
import { useCallback, useEffect, useSyncExternalStore } from 'react';

/** Loads a module, and identifies it: pass the same function each time. */
export type Load<Module> = () => Promise<Module>;

type Outcome<Module> = { module: Module } | 'failed';

interface Import<Module> {
  /** The outcome of the last attempt. */
  outcome?: Outcome<Module>;
  /** The attempt in progress. */
  pending?: Promise<void>;
  listeners: Set<() => void>;
}

const imports = new WeakMap<Load<unknown>, Import<unknown>>();

function importOf<Module>(load: Load<Module>): Import<Module> {
  const known = imports.get(load) as Import<Module> | undefined;
  if (known !== undefined) return known;
  const added: Import<Module> = { listeners: new Set() };
  imports.set(load, added as Import<unknown>);
  return added;
}

/** Loads a module unless it is loaded. Never rejects: `useImport` and `useHasFailed` have the outcome. */
export async function startImport<Module>(load: Load<Module>): Promise<void> {
  const entry = importOf(load);
  if (typeof entry.outcome === 'object') return;
  entry.pending ??= attempt(load).then((outcome) => {
    entry.outcome = outcome;
    entry.pending = undefined;
    for (const listener of entry.listeners) listener();
  });
  await entry.pending;
}

const attempt = <Module>(load: Load<Module>): Promise<Outcome<Module>> =>
  load().then(
    (module) => ({ module }),
    () => 'failed',
  );

function useOutcome<Module>(load: Load<Module>): Outcome<Module> | undefined {
  const subscribe = useCallback(
    (listener: () => void) => {
      const { listeners } = importOf(load);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    [load],
  );
  return useSyncExternalStore(subscribe, () => importOf(load).outcome);
}

/** Whether the last attempt to load a module failed. Does not load it. */
export const useHasFailed = (load: Load<unknown>) => useOutcome(load) === 'failed';

/** A module; undefined until it is loaded. After a failure, the next component that needs it tries again. */
export function useImport<Module>(load: Load<Module>): Module | undefined {
  const outcome = useOutcome(load);
  useEffect(() => void startImport(load), [load]);
  return typeof outcome === 'object' ? outcome.module : undefined;
}
