// Moves between runs by keyboard. The link of the current run has the focus.
import { useEffect, useMemo, useRef, useState } from 'react';
import type { RunRow } from '../../api/types';
import { type KeyHandlers, useKeys } from '../../lib/use-keys';

/** The ID of the run whose link has the focus. */
const focusedRun = () =>
  document.activeElement instanceof HTMLElement ? document.activeElement.dataset.run : undefined;

export function useRowKeys(runs: RunRow[], scrollTo: (index: number) => void, toggle: (id: string) => void) {
  // Rows outside the viewport are not rendered: focus the target as soon as it is.
  const [pending, setPending] = useState<string>();
  const lastFocused = useRef<string>(undefined);
  useEffect(() => {
    if (pending === undefined) return;
    const frame = requestAnimationFrame(() => {
      const link = document.querySelector<HTMLElement>(`[data-run="${CSS.escape(pending)}"]`);
      link?.focus({ preventScroll: true });
      if (link) setPending(undefined);
    });
    return () => cancelAnimationFrame(frame);
  });

  const keys = useMemo((): KeyHandlers => {
    const move = (step: number) => (event: KeyboardEvent) => {
      const place = runs.findIndex((run) => run.id === (focusedRun() ?? lastFocused.current));
      const next = Math.max(0, Math.min(runs.length - 1, place === -1 ? 0 : place + step));
      const run = runs[next];
      if (run === undefined) return;
      event.preventDefault();
      lastFocused.current = run.id;
      scrollTo(next);
      setPending(run.id);
    };
    const inList = (act: (event: KeyboardEvent) => void) => (event: KeyboardEvent) => {
      if (focusedRun() !== undefined) act(event);
    };
    const toggleFocused = inList((event) => {
      event.preventDefault();
      toggle(focusedRun() ?? '');
    });
    return {
      j: move(1),
      k: move(-1),
      ArrowDown: inList(move(1)),
      ArrowUp: inList(move(-1)),
      x: toggleFocused,
      ' ': toggleFocused,
    };
  }, [runs, scrollTo, toggle]);
  useKeys(keys);
}
