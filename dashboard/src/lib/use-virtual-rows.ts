// Virtualizes a long list, and loads more rows near its end.
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useTop } from './use-top';

/** Loads more when this many rows are left. */
const PREFETCH_ROWS = 20;

/** The space below a row that is scrolled to, in pixels. */
const SCROLL_PADDING = 60;

interface VirtualRowsOptions {
  count: number;
  /** The height of every row in pixels, or that of the row at an index. */
  height: number | ((index: number) => number);
  /** The height of the sticky headers over the list, in pixels. */
  headerHeight: number;
  /** Loads more rows; undefined if there are none or they are already loading. */
  onEnd?: () => void;
}

export function useVirtualRows<Element extends HTMLElement>({
  count,
  height,
  headerHeight,
  onEnd,
}: VirtualRowsOptions) {
  const list = useRef<Element>(null);
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: (index) => (typeof height === 'number' ? height : height(index)),
    overscan: 8,
    scrollMargin: useTop(list),
    scrollPaddingStart: headerHeight,
    scrollPaddingEnd: SCROLL_PADDING,
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
