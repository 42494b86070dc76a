// Whether the content of an element is wider than the element.
import { type RefObject, useLayoutEffect, useState } from 'react';

/** Kept up to date while the element or its first child changes its size. */
export function useOverflows(element: RefObject<HTMLElement | null>): boolean {
  const [overflows, setOverflows] = useState(false);
  useLayoutEffect(() => {
    const box = element.current;
    if (box === null) return;
    const measure = () => setOverflows(box.scrollWidth > box.clientWidth);
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    if (box.firstElementChild !== null) watch.observe(box.firstElementChild);
    return () => watch.disconnect();
  }, [element]);
  return overflows;
}
