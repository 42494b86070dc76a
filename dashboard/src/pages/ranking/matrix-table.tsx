// The virtualized matrix of items and runs, loaded page by page while scrolling.
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type Ref, useRef } from 'react';
import { type MatrixFilter, matrixQuery } from '../../api/queries';
import type { Matrix } from '../../api/types';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { Spacer } from '../../components/spacer';
import { Text } from '../../components/text';
import { itemWindow, laterPages } from '../../lib/item-window';
import { useTop } from '../../lib/use-top';
import { MatrixRows } from './matrix-rows';

/** The estimated height of an item in pixels. */
const ITEM_HEIGHT = 96;
/** The height of the sticky page header in pixels. */
const HEADER_HEIGHT = 64;

interface MatrixTableProps {
  matrix: Matrix;
  start: UseQueryResult<Matrix>;
  filter: MatrixFilter;
  labels: string[];
  /** The key of the open item. */
  open: string;
  onToggle: (key: string) => void;
}

export function MatrixTable({ matrix, start, filter, labels, open, onToggle }: MatrixTableProps) {
  const table = useRef<HTMLTableElement>(null);
  const top = useTop(table);
  const virtual = useWindowVirtualizer({
    count: matrix.matching,
    estimateSize: () => ITEM_HEIGHT,
    scrollMargin: top,
    scrollPaddingStart: HEADER_HEIGHT,
    overscan: 8,
  });
  const rows = virtual.getVirtualItems();
  const pages = laterPages(start, [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0]);
  const later = useQueries({ queries: pages.map((page) => matrixQuery(filter, page)) });
  const items = itemWindow(start, pages, later);
  const before = (rows[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((rows.at(-1)?.end ?? top) - top);
  const columns = matrix.runs.length + 1;
  return (
    <>
      <div className="relative -mx-4 px-4 lg:overflow-x-auto">
        <table
          ref={table}
          aria-rowcount={matrix.matching + 1}
          aria-busy={start.isPlaceholderData}
          className="w-full table-fixed border-line border-t text-left max-lg:block lg:min-w-(--matrix-width)"
          style={{ '--matrix-width': `${14 + 11 * matrix.runs.length}rem` } as CSSProperties}
        >
          <caption className="sr-only">Items with the output of each run</caption>
          <thead className="text-muted text-xs max-lg:sr-only">
            <tr aria-rowindex={1}>
              <th scope="col" className="w-56 py-2 pr-2 font-medium">
                Item
              </th>
              {matrix.runs.map(({ id }, place) => (
                <th key={id} scope="col" className="w-44 px-2 py-2 font-medium [overflow-wrap:anywhere]">
                  <Text>{labels[place] ?? id}</Text>
                </th>
              ))}
            </tr>
          </thead>
          <Spacer height={before} />
          {rows.map(({ index, key }) => {
            const item = items.at(index);
            const shared = { ref: virtual.measureElement, index };
            if (item === undefined) return <PlaceholderRow key={key} {...shared} columns={columns} />;
            return (
              <MatrixRows
                key={item.key}
                {...shared}
                item={item}
                runs={matrix.runs}
                labels={labels}
                isOpen={open === item.key}
                onToggle={() => onToggle(item.key)}
              />
            );
          })}
          <Spacer height={after} />
        </table>
      </div>
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
          <Skeleton label="Loading an item" className="h-16" />
        </td>
      </tr>
    </tbody>
  );
}
