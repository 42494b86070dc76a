// Moves from run to run by keys, as in an editor: the link of the run that one is at has the focus.
import { useEffect, useMemo, useRef, useState } from 'react';
import type { RunRow } from '../../api/types';
import { type Keys, useKeys } from '../../lib/use-keys';

/** The id of the run whose link has the focus. */
const focused = () =>
  document.activeElement instanceof HTMLElement ? document.activeElement.dataset.run : undefined;

export function useRowKeys(runs: RunRow[], scrollTo: (index: number) => void, pick: (id: string) => void) {
  // Rows out of sight are not there; the one to go to takes the focus as soon as it is.
  const [wanted, setWanted] = useState<string>();
  const at = useRef<string>(undefined);
  useEffect(() => {
    if (wanted === undefined) return;
    const frame = requestAnimationFrame(() => {
      const link = document.querySelector<HTMLElement>(`[data-run="${CSS.escape(wanted)}"]`);
      link?.focus({ preventScroll: true });
      if (link) setWanted(undefined);
    });
    return () => cancelAnimationFrame(frame);
  });

  const keys = useMemo((): Keys => {
    const move = (step: number) => (event: KeyboardEvent) => {
      const place = runs.findIndex((run) => run.id === (focused() ?? at.current));
      const next = Math.max(0, Math.min(runs.length - 1, place === -1 ? 0 : place + step));
      const run = runs[next];
      if (run === undefined) return;
      event.preventDefault();
      at.current = run.id;
      scrollTo(next);
      setWanted(run.id);
    };
    const inList = (act: (event: KeyboardEvent) => void) => (event: KeyboardEvent) => {
      if (focused() !== undefined) act(event);
    };
    const pickThis = inList((event) => {
      event.preventDefault();
      pick(focused() ?? '');
    });
    return {
      j: move(1),
      k: move(-1),
      ArrowDown: inList(move(1)),
      ArrowUp: inList(move(-1)),
      x: pickThis,
      ' ': pickThis,
    };
  }, [runs, scrollTo, pick]);
  useKeys(keys);
}
