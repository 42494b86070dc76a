// Draws only those rows of a long list that are in sight, and asks for more before its end is reached.
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** So many rows before the end, the next ones are asked for. */
const PREFETCH_ROWS = 20;

interface VirtualRowsOptions {
  count: number;
  /** The height of a row in pixels; all have the same. */
  height: number;
  /** What lies over the list while it is scrolled, in pixels. */
  headerHeight: number;
  /** Asks for more; undefined where there are no more, or they are on their way. */
  onEnd?: () => void;
}

export function useVirtualRows<Element extends HTMLElement>({
  count,
  height,
  headerHeight: covered,
  onEnd,
}: VirtualRowsOptions) {
  const list = useRef<Element>(null);
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => height,
    overscan: 8,
    scrollMargin: useTop(list),
    scrollPaddingStart: covered,
    scrollPaddingEnd: height,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= count - PREFETCH_ROWS) onEnd?.();
  }, [last, count, onEnd]);

  const margin = virtualizer.options.scrollMargin;
  return {
    list,
    items,
    before: (items[0]?.start ?? margin) - margin,
    after: virtualizer.getTotalSize() - ((items.at(-1)?.end ?? margin) - margin),
    scrollTo: (index: number) => virtualizer.scrollToIndex(index),
  };
}

/** How far from the top of the page an element is, whatever comes and goes above it. */
function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (element.current) setTop(element.current.getBoundingClientRect().top + window.scrollY);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
  return top;
}
