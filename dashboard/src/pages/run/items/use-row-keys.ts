// Moves between table rows by keyboard, including rows that are not rendered yet.
import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react';

interface RowKeys {
  box: RefObject<HTMLDivElement | null>;
  count: number;
  /** The number of visible rows. */
  page: () => number;
  scrollTo: (place: number) => void;
}

/** The row in the tab order, and the handlers that move it. */
export function useRowKeys({ box, count, page, scrollTo }: RowKeys) {
  const [active, setActive] = useState(0);
  const [pending, setPending] = useState<number>();

  // The row is rendered and its item loaded later; both re-render the table and run this effect again.
  useEffect(() => {
    if (pending === undefined) return;
    const link = box.current?.querySelector<HTMLElement>(`[data-place="${pending}"] a`);
    if (link == null || isElsewhere(box.current)) return;
    link.focus({ preventScroll: true });
    // The table itself may be partly outside the viewport.
    link.scrollIntoView({ block: 'nearest' });
    setPending(undefined);
  });

  const goTo = (place: number) => {
    const target = Math.min(Math.max(place, 0), count - 1);
    scrollTo(target);
    setActive(target);
    setPending(target);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const place = placeOf(event.target);
    if (place === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const steps: Record<string, number> = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + page(),
      PageUp: place - page(),
      Home: 0,
      End: count - 1,
    };
    const target = steps[event.key];
    if (target === undefined) return;
    event.preventDefault();
    goTo(target);
  };
  return { active: Math.min(active, Math.max(count - 1, 0)), setActive, goTo, onKeyDown };
}

/** Whether the focus has moved to another part of the page. */
function isElsewhere(box: HTMLElement | null): boolean {
  const { activeElement, body } = document;
  return activeElement !== null && activeElement !== body && box?.contains(activeElement) === false;
}

function placeOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-place]') : null;
  return row === null ? undefined : Number(row.dataset.place);
}
