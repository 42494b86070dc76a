// The width of an element, for layouts that depend on more than styles.
import { type RefObject, useLayoutEffect, useState } from 'react';

/** In pixels; 0 until it is measured. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (element.current === null) return;
    const measure = () => setWidth(element.current?.clientWidth ?? 0);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [element]);
  return width;
}
