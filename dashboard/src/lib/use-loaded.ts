// A part of the page that is loaded by itself. It is drawn as soon as it is there: what comes by React's `lazy` is held back
// until its placeholder has been seen for 300 ms.
import { useEffect, useState } from 'react';

/** The part, once it is loaded by `load`, which has to remain the same function. One that cannot be loaded is thrown as an error where it should be drawn. */
export function useLoaded<Part>(load: () => Promise<Part>): Part | undefined {
  const [loaded, setLoaded] = useState<{ part: Part } | { error: unknown }>();
  useEffect(() => {
    let isWanted = true;
    load().then(
      (part) => isWanted && setLoaded({ part }),
      (error: unknown) => isWanted && setLoaded({ error }),
    );
    return () => {
      isWanted = false;
    };
  }, [load]);
  if (loaded !== undefined && 'error' in loaded) throw loaded.error;
  return loaded?.part;
}
