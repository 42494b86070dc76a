// Moves between the lines of the table by keyboard, including lines that are not rendered yet.
import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react';

interface RowKeys {
  box: RefObject<HTMLDivElement | null>;
  count: number;
  /** The number of visible lines. */
  page: () => number;
  scrollTo: (line: number) => void;
}

/** The handlers that move between lines. */
export function useItemRowKeys({ box, count, page, scrollTo }: RowKeys) {
  const [active, setActive] = useState(0);
  const [pending, setPending] = useState<number>();

  // The line is rendered and its item loaded later; both re-render the table and run this effect again.
  useEffect(() => {
    if (pending === undefined) return;
    const control = box.current?.querySelector<HTMLElement>(
      `[data-line="${pending}"] a, [data-line="${pending}"] button`,
    );
    if (control == null || isElsewhere(box.current)) return;
    control.focus({ preventScroll: true });
    setPending(undefined);
  });

  const current = Math.min(active, Math.max(count - 1, 0));
  const goTo = (line: number) => {
    const target = Math.min(Math.max(line, 0), count - 1);
    scrollTo(target);
    setActive(target);
    setPending(target);
  };
  /** Moves the focus, or puts it on the current line if it is elsewhere. */
  const move = (by: number) => {
    const isInside = box.current?.contains(document.activeElement) === true;
    goTo(isInside ? current + by : current);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const line = lineOf(event.target);
    if (line === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const steps: Record<string, number> = {
      ArrowDown: line + 1,
      ArrowUp: line - 1,
      PageDown: line + page(),
      PageUp: line - page(),
      Home: 0,
      End: count - 1,
    };
    const target = steps[event.key];
    if (target === undefined) return;
    event.preventDefault();
    goTo(target);
  };
  return { setActive, goTo, move, onKeyDown };
}

/** Whether the focus has moved to another control of the page. */
function isElsewhere(box: HTMLElement | null): boolean {
  const { activeElement, body } = document;
  if (activeElement === null || activeElement === body || activeElement.tagName === 'MAIN') return false;
  return box?.contains(activeElement) === false;
}

function lineOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-line]') : null;
  return row === null ? undefined : Number(row.dataset.line);
}
