// Loads a module on demand and renders it immediately. React's `lazy` shows the fallback for at least 300 ms.
import { useEffect, useState } from 'react';

/** The loaded module; undefined until then. Throws if loading fails. `load` must be a stable function. */
export function useImport<Module>(load: () => Promise<Module>): Module | undefined {
  const [loaded, setLoaded] = useState<{ module: Module } | { error: unknown }>();
  useEffect(() => {
    let isMounted = true;
    load().then(
      (module) => isMounted && setLoaded({ module }),
      (error: unknown) => isMounted && setLoaded({ error }),
    );
    return () => {
      isMounted = false;
    };
  }, [load]);
  if (loaded !== undefined && 'error' in loaded) throw loaded.error;
  return loaded?.module;
}
