// The virtualized list of items, loaded page by page while scrolling.
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type Ref, useEffect, useRef } from 'react';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { Spacer } from '../../components/spacer';
import { useTop } from '../../lib/use-top';
import { ItemRows } from './item-rows';
import type { ItemsProps } from './items';
import { LETTERS, RunLetter } from './run-letter';
import { useVisibleItems } from './use-items';

/** The estimated height of an item in pixels. */
const ITEM_HEIGHT = 61;
/** The height of the sticky page header in pixels. */
const HEADER_HEIGHT = 64;

export function ItemTable({ compared, start, filter, parameters }: ItemsProps) {
  const table = useRef<HTMLTableElement>(null);
  const top = useTop(table);
  const virtual = useWindowVirtualizer({
    count: compared.matching,
    estimateSize: () => ITEM_HEIGHT,
    scrollMargin: top,
    scrollPaddingStart: HEADER_HEIGHT,
    overscan: 8,
  });
  const virtualItems = virtual.getVirtualItems();
  const items = useVisibleItems(filter, start, [
    virtualItems[0]?.index ?? 0,
    virtualItems.at(-1)?.index ?? 0,
  ]);
  const isShown = useRef(false);
  const place = compared.itemAt ?? undefined;
  useEffect(() => {
    // Scroll to the item of a shared link once its position is known.
    if (place === undefined || top === 0 || isShown.current) return;
    isShown.current = true;
    virtual.scrollToIndex(place, { align: 'start' });
  }, [place, top, virtual.scrollToIndex]);

  const before = (virtualItems[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((virtualItems.at(-1)?.end ?? top) - top);
  const others = compared.runs.slice(1);
  return (
    <>
      <table
        ref={table}
        aria-rowcount={compared.matching + 1}
        aria-busy={start.isPlaceholderData}
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
                  {others.length > 1 && <RunLetter place={index + 1} />} Change vs. run A
                </span>
              </th>
            ))}
            <th scope="col" className="w-44 py-2 pl-2 text-right font-medium">
              Latency
            </th>
          </tr>
        </thead>
        <Spacer height={before} />
        {virtualItems.map(({ index, key }) => {
          const item = items.at(index);
          const shared = { ref: virtual.measureElement, index };
          if (item === undefined) return <PlaceholderRow key={key} {...shared} columns={others.length + 2} />;
          return (
            <ItemRows
              key={item.key}
              {...shared}
              item={item}
              runs={compared.runs}
              evaluator={parameters.evaluator}
              isOpen={parameters.item === item.key}
              onToggle={() => parameters.set({ item: parameters.item === item.key ? '' : item.key })}
            />
          );
        })}
        <Spacer height={after} />
      </table>
      {items.error !== null && (
        <ErrorMessage title="Failed to load the items" error={items.error} onRetry={items.retry} />
      )}
    </>
  );
}

interface PlaceholderRowProps {
  ref: Ref<HTMLTableSectionElement>;
  index: number;
  columns: number;
}

/** An item that is not loaded yet. */
function PlaceholderRow({ ref, index, columns }: PlaceholderRowProps) {
  return (
    <tbody ref={ref} data-index={index} className="border-line border-t max-lg:block">
      <tr aria-rowindex={index + 2} className="max-lg:block">
        <td colSpan={columns} className="py-2.5 max-lg:block">
          <Skeleton label="Loading an item" className="h-10" />
        </td>
      </tr>
    </tbody>
  );
}
