// Moves between rows by keyboard. The link of the current row, marked with `data-row`, has the focus.
import { useEffect, useMemo, useRef, useState } from 'react';
import { type KeyHandlers, useKeys } from './use-keys';

/** The row whose link has the focus. */
const focusedRow = () =>
  document.activeElement instanceof HTMLElement ? document.activeElement.dataset.row : undefined;

/** `rows` are the values of `data-row`; `toggle` selects a row. */
export function useRowKeys(
  rows: string[],
  scrollTo: (index: number) => void,
  toggle?: (row: string) => void,
) {
  // Rows outside the viewport are not rendered: focus the target as soon as it is.
  const [pending, setPending] = useState<string>();
  const lastFocused = useRef<string>(undefined);
  useEffect(() => {
    if (pending === undefined) return;
    const frame = requestAnimationFrame(() => {
      const link = document.querySelector<HTMLElement>(`[data-row="${CSS.escape(pending)}"]`);
      link?.focus({ preventScroll: true });
      if (link) setPending(undefined);
    });
    return () => cancelAnimationFrame(frame);
  });

  const keys = useMemo((): KeyHandlers => {
    const move = (step: number) => (event: KeyboardEvent) => {
      const place = rows.indexOf(focusedRow() ?? lastFocused.current ?? '');
      const next = Math.max(0, Math.min(rows.length - 1, place === -1 ? 0 : place + step));
      const row = rows[next];
      if (row === undefined) return;
      event.preventDefault();
      lastFocused.current = row;
      scrollTo(next);
      setPending(row);
    };
    const inList = (act: (event: KeyboardEvent) => void) => (event: KeyboardEvent) => {
      if (focusedRow() !== undefined) act(event);
    };
    const arrows = { j: move(1), k: move(-1), ArrowDown: inList(move(1)), ArrowUp: inList(move(-1)) };
    if (toggle === undefined) return arrows;
    const toggleFocused = inList((event) => {
      event.preventDefault();
      toggle(focusedRow() ?? '');
    });
    return { ...arrows, x: toggleFocused, ' ': toggleFocused };
  }, [rows, scrollTo, toggle]);
  useKeys(keys);
}
