// The items of a run as a virtualized table.
import { useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import clsx from 'clsx';
import { useEffect, useMemo, useRef } from 'react';
import type { ItemsFilter } from '../../../api/queries';
import { ErrorMessage } from '../../../components/error-message';
import { columnsOf, features, type TableRow } from './columns';
import { Heading } from './heading';
import { type useFirstPage, useVisibleItems } from './use-items';
import { useRowKeys } from './use-row-keys';

/** In pixels. */
const ROW_HEIGHT = 40;
const HEADER_HEIGHT = 36;
/** The number of extra rows rendered outside the viewport. */
const OVERSCAN = 10;
/** The size of the table until it is measured. */
const INITIAL_SIZE = { width: 1200, height: 640 };

interface ItemTableProps {
  id: string;
  evaluators: string[];
  filter: ItemsFilter;
  start: ReturnType<typeof useFirstPage>;
  /** The number of matching items; an estimate until the first page is loaded. */
  matching: number;
  /** The item whose drawer is open, and its index among the matching items. */
  open: { key: string; place: number | undefined } | undefined;
  itemAt: (key: string) => string;
  onSort: (sort: string) => void;
}

export function ItemTable(props: ItemTableProps) {
  const { id, evaluators, filter, start, matching, open, itemAt, onSort } = props;
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: matching,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollPaddingStart: HEADER_HEIGHT,
    initialRect: INITIAL_SIZE,
  });
  const virtualItems = virtual.getVirtualItems();
  const first = virtualItems[0]?.index ?? 0;
  const last = virtualItems.at(-1)?.index ?? 0;
  const items = useVisibleItems(id, filter, start, [first, last]);
  const columns = useMemo(() => columnsOf(evaluators, itemAt), [evaluators, itemAt]);
  const data: TableRow[] = virtualItems.map(({ index }) => ({ place: index, item: items.at(index) }));
  const table = useTable({ features, columns, data, getRowId: ({ place }) => String(place) });
  const keys = useRowKeys({
    box,
    count: matching,
    page: () => Math.floor(((box.current?.clientHeight ?? INITIAL_SIZE.height) - HEADER_HEIGHT) / ROW_HEIGHT),
    scrollTo: (place) => virtual.scrollToIndex(place),
  });
  useScrollSync(open, filter, keys.goTo, virtual.scrollToIndex);

  const width = columns.reduce((sum, column) => sum + (column.meta?.width ?? 0), 0);
  return (
    <>
      {items.error !== null && (
        <ErrorMessage title="Failed to load the items" error={items.error} onRetry={items.retry} />
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: handles keys that bubble from the links in its rows */}
      <div
        ref={box}
        onKeyDown={keys.onKeyDown}
        className="relative min-h-0 grow overflow-auto overscroll-contain border-line border-t bg-surface"
      >
        <table
          aria-rowcount={matching + 1}
          aria-busy={start.isPlaceholderData}
          className="w-full table-fixed border-separate border-spacing-0"
          style={{ minWidth: width }}
        >
          <caption className="sr-only">Items</caption>
          <colgroup>
            {columns.map(({ id, meta }) => (
              <col key={id} style={{ width: id === 'input' || id === 'output' ? undefined : meta?.width }} />
            ))}
          </colgroup>
          <thead className="sticky top-0 z-10">
            <tr aria-rowindex={1}>
              {table.getHeaderGroups()[0]?.headers.map((header) => (
                <Heading
                  key={header.id}
                  sort={header.column.columnDef.meta?.sort}
                  isNumber={header.column.columnDef.meta?.isNumber ?? false}
                  filter={filter}
                  onSort={onSort}
                >
                  <table.FlexRender header={header} />
                </Heading>
              ))}
            </tr>
          </thead>
          <tbody className={clsx(start.isPlaceholderData && 'opacity-60')}>
            <Gap height={virtualItems[0]?.start ?? 0} columns={columns.length} />
            {table.getRowModel().rows.map((row) => (
              <tr
                key={row.id}
                data-place={row.original.place}
                aria-rowindex={row.original.place + 2}
                aria-current={open !== undefined && row.original.item?.key === open.key ? 'true' : undefined}
                onFocus={() => keys.setActive(row.original.place)}
                className="group relative h-10 hover:bg-sunken/60 aria-[current=true]:bg-accent-soft"
              >
                {row.getAllCells().map((cell) => (
                  <td
                    key={cell.id}
                    className={clsx(
                      'overflow-hidden border-line border-b px-3 py-0 whitespace-nowrap',
                      cell.column.columnDef.meta?.isNumber && 'text-right tabular-nums',
                    )}
                  >
                    {row.original.item === undefined ? <PlaceholderCell /> : <table.FlexRender cell={cell} />}
                  </td>
                ))}
              </tr>
            ))}
            <Gap height={virtual.getTotalSize() - (virtualItems.at(-1)?.end ?? 0)} columns={columns.length} />
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Reserves the space of rows that are not rendered. */
function Gap({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it contains nothing focusable
    <tr aria-hidden="true">
      <td colSpan={columns} className="p-0" style={{ height }} />
    </tr>
  );
}

const PlaceholderCell = () => <span className="block h-3 w-2/3 rounded-sm bg-sunken" />;

/** Scrolls to the open item, focuses it when its drawer closes, and scrolls to the top when the filter changes. */
function useScrollSync(
  open: ItemTableProps['open'],
  filter: ItemsFilter,
  goTo: (place: number) => void,
  scrollTo: (place: number) => void,
) {
  const place = open?.place;
  const before = useRef<number>(undefined);
  const latest = useRef({ goTo, scrollTo });
  latest.current = { goTo, scrollTo };
  useEffect(() => {
    if (open !== undefined) {
      if (place !== undefined) latest.current.scrollTo(place);
      before.current = place;
    } else if (before.current !== undefined) {
      latest.current.goTo(before.current);
      before.current = undefined;
    }
  }, [open, place]);

  const filterKey = JSON.stringify(filter);
  const shownFilter = useRef(filterKey);
  useEffect(() => {
    if (shownFilter.current === filterKey) return;
    shownFilter.current = filterKey;
    latest.current.scrollTo(0);
  }, [filterKey]);
}
