// The list of items; only those in sight are drawn, and further ones are asked for as it is scrolled.
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Skeleton } from '../../components/skeleton';
import { ItemRows } from './item-rows';
import type { ItemsProps } from './items';
import { LETTERS, Mark } from './mark';

/** About how high an item is, in pixels. */
const HEIGHT = 61;
/** So many items before the last one, the next page is asked for. */
const AHEAD = 20;

export function ItemTable({ compared, found, chosen }: ItemsProps) {
  const table = useRef<HTMLTableElement>(null);
  const items = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const top = useTop(table);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => HEIGHT,
    getItemKey: (index) => items[index]?.key ?? index,
    scrollMargin: top,
    overscan: 8,
  });
  const drawn = virtual.getVirtualItems();
  const last = drawn.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= items.length - AHEAD) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, items.length]);

  const before = (drawn[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((drawn.at(-1)?.end ?? top) - top);
  const others = compared.runs.slice(1);
  return (
    <>
      <table
        ref={table}
        aria-rowcount={compared.matching + 1}
        aria-busy={found.isPlaceholderData}
        className="w-full table-fixed border-line border-t text-left max-lg:block"
      >
        <caption className="sr-only">Items and how they changed</caption>
        <thead className="text-muted text-xs max-lg:sr-only">
          <tr aria-rowindex={1}>
            <th scope="col" className="w-[34%] py-2 pr-2 font-medium">
              Item
            </th>
            {others.map((_, index) => (
              <th key={LETTERS[index + 1]} scope="col" className="px-2 py-2 font-medium">
                <span className="flex items-center gap-2">
                  {others.length > 1 && <Mark place={index + 1} />} Change against the baseline
                </span>
              </th>
            ))}
            <th scope="col" className="w-44 py-2 pl-2 text-right font-medium">
              Latency
            </th>
          </tr>
        </thead>
        <Space height={before} />
        {drawn.map(({ index, key }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <ItemRows
              key={key}
              ref={virtual.measureElement}
              index={index}
              item={item}
              runs={compared.runs}
              evaluator={chosen.evaluator}
              isOpen={chosen.item === item.key}
              onToggle={() => chosen.set({ item: chosen.item === item.key ? '' : item.key })}
            />
          );
        })}
        <Space height={after} />
      </table>
      {isFetchingNextPage && <Skeleton label="Loading further items" rows={2} className="mt-2 h-10" />}
    </>
  );
}

/** The room of the items that are not drawn. */
function Space({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true" className="max-lg:block">
      <tr>
        <td style={{ height, padding: 0 }} />
      </tr>
    </tbody>
  );
}

/** How far from the top of the page an element lies. What is above it may change with the width of the window, or as it is loaded. */
function useTop(element: React.RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () =>
      setTop(Math.round((element.current?.getBoundingClientRect().top ?? 0) + window.scrollY));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(document.body);
    return () => watch.disconnect();
  }, [element]);
  return top;
}
