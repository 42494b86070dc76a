// The items of a run as a virtualized table, with the columns of the URL.
import { useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import clsx from 'clsx';
import {
  type CSSProperties,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useNavigate } from 'react-router';
import type { ItemsFilter } from '../../../api/queries';
import { ErrorMessage } from '../../../components/error-message';
import { type KeyHandlers, useKeys } from '../../../lib/use-keys';
import { useIsWide } from '../workbench';
import { type ColumnActions, ColumnHead } from './column-head';
import { features, type ItemColumn, NO_ROWS } from './columns';
import { NAME_COLUMN, ROW_HEIGHTS, type RowHeight } from './layout';
import { type Lines, linesOf } from './lines';
import { GroupRow, Row, type ShownColumn } from './row';
import { type useFirstPage, useVisibleItems } from './use-items';
import { useRowKeys } from './use-row-keys';

/** In pixels. */
const GROUP_HEIGHT = 40;
/** The number of extra rows rendered outside the viewport. */
const OVERSCAN = 8;
/** The size of the table until it is measured. */
const INITIAL_SIZE = { width: 1200, height: 640 };

interface ItemTableProps {
  id: string;
  filter: ItemsFilter;
  start: ReturnType<typeof useFirstPage>;
  /** The number of matching items; an estimate until the first page is loaded. */
  matching: number;
  columns: ItemColumn[];
  /** The shown columns in their order. */
  shown: string[];
  widths: Record<string, number>;
  rowHeight: RowHeight;
  /** The open item, and its place among the matching items. */
  open: { key: string; place: number | undefined } | undefined;
  itemAt: (key: string) => string;
  actions: ColumnActions;
  onWidths: (widths: Record<string, number>) => void;
  /** What the head of a column has below its name. */
  headOf: (column: ItemColumn) => ReactNode;
}

export function ItemTable(props: ItemTableProps) {
  const { id, filter, start, matching, shown, rowHeight, open, itemAt, actions, headOf } = props;
  const box = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLTableSectionElement>(null);
  const navigate = useNavigate();
  const { closed, toggle } = useClosedGroups(filter.group);
  const groups = start.data?.groups;
  const lines = useMemo(() => linesOf(matching, groups, closed), [matching, groups, closed]);
  const height = ROW_HEIGHTS[rowHeight];
  const virtual = useVirtualizer({
    count: lines.count,
    getScrollElement: () => box.current,
    estimateSize: (line) => (lines.at(line).kind === 'group' ? GROUP_HEIGHT : height),
    overscan: OVERSCAN,
    scrollPaddingStart: head.current?.offsetHeight ?? GROUP_HEIGHT,
    initialRect: INITIAL_SIZE,
  });
  // The heights are remembered otherwise.
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again if the lines change
  useEffect(() => virtual.measure(), [virtual, height, lines]);

  const visible = virtual.getVirtualItems().map(({ index }) => ({ index, line: lines.at(index) }));
  const places = visible.flatMap(({ line }) => (line.kind === 'item' ? [line.place] : []));
  const items = useVisibleItems(id, filter, start, places);
  const { table, shownColumns } = useColumns(props);
  const headHeight = () => head.current?.offsetHeight ?? GROUP_HEIGHT;
  const keys = useRowKeys({
    box,
    count: lines.count,
    page: () => Math.floor(((box.current?.clientHeight ?? INITIAL_SIZE.height) - headHeight()) / height),
    scrollTo: (line) => virtual.scrollToIndex(line),
  });
  useScrollSync(open, filter, lines, keys.goTo, virtual.scrollToIndex);
  usePageKeys(open === undefined, keys.move);

  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
      return;
    // Links work by themselves, and a selected text is to be copied.
    if (target.closest('a, button') !== null || window.getSelection()?.isCollapsed === false) return;
    const key = target.closest<HTMLElement>('[data-item]')?.dataset.item;
    if (key !== undefined) void navigate(itemAt(key), { preventScrollReset: true });
  };
  const onFocus = (event: { target: Element }) => {
    const line = event.target.closest<HTMLElement>('[data-line]')?.dataset.line;
    if (line !== undefined) keys.setActive(Number(line));
  };

  const isPinned = useIsWide() && shown[0] === NAME_COLUMN;
  const hasFiller = shownColumns.every(
    ({ id, columnDef }) => !isFlexible(id, columnDef, table.state.columnSizing),
  );
  const ids = shownColumns.map((column) => column.id);
  const count = shownColumns.length + (hasFiller ? 1 : 0);
  const virtualItems = virtual.getVirtualItems();
  return (
    <>
      {items.error !== null && (
        <ErrorMessage title="Failed to load the items" error={items.error} onRetry={items.retry} />
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: handles events that bubble from the links in its rows */}
      <div
        ref={box}
        onKeyDown={keys.onKeyDown}
        onClick={onClick}
        onFocus={onFocus}
        className="relative min-h-0 grow overflow-auto overscroll-contain bg-surface"
      >
        <table
          aria-rowcount={lines.count + 1}
          aria-busy={start.isPlaceholderData || start.isPending}
          className="w-full table-fixed border-separate border-spacing-0"
          style={{ minWidth: table.getTotalSize() }}
        >
          <caption className="sr-only">Items</caption>
          <colgroup>
            {shownColumns.map((column) => (
              <col
                key={column.id}
                style={{
                  width: isFlexible(column.id, column.columnDef, table.state.columnSizing)
                    ? undefined
                    : column.getSize(),
                }}
              />
            ))}
            {hasFiller && <col />}
          </colgroup>
          <thead ref={head} className="sticky top-0 z-10">
            <tr aria-rowindex={1}>
              {table.getHeaderGroups()[0]?.headers.map((header, place) => (
                <ColumnHead
                  key={header.id}
                  header={header}
                  filter={filter}
                  before={ids[place - 1]}
                  after={ids[place + 1]}
                  isPinned={isPinned && place === 0}
                  actions={actions}
                >
                  {headOf(header.column.columnDef as ItemColumn)}
                </ColumnHead>
              ))}
              {hasFiller && <td className="border-line border-b bg-sunken" />}
            </tr>
          </thead>
          <tbody
            data-height={rowHeight}
            className={clsx('group/rows', start.isPlaceholderData && 'opacity-60')}
            style={{ '--row': `${height}px` } as CSSProperties}
          >
            <Gap height={virtualItems[0]?.start ?? 0} columns={count} />
            {visible.map(({ index, line }) =>
              line.kind === 'group' ? (
                <GroupRow
                  key={index}
                  line={index}
                  group={line.group}
                  isOpen={line.isOpen}
                  columns={shownColumns}
                  hasFiller={hasFiller}
                  onToggle={toggle}
                />
              ) : (
                <Row
                  key={index}
                  line={index}
                  item={items.at(line.place)}
                  columns={shownColumns}
                  isOpen={open !== undefined && items.at(line.place)?.key === open.key}
                  isPinned={isPinned}
                  hasFiller={hasFiller}
                />
              ),
            )}
            <Gap height={virtual.getTotalSize() - (virtualItems.at(-1)?.end ?? 0)} columns={count} />
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Whether a column shares the remaining space: it was not resized. */
const isFlexible = (id: string, { meta }: ShownColumn['columnDef'], widths: Record<string, number>) =>
  meta?.isFlexible === true && widths[id] === undefined;

/** The table with its columns. Widths are kept in the URL once a column is no longer dragged. */
function useColumns({ columns, shown, widths, onWidths }: ItemTableProps) {
  const [sizing, setSizing] = useState(widths);
  useEffect(() => setSizing(widths), [widths]);
  const visibility = useMemo(
    () => Object.fromEntries(columns.map(({ id = '' }) => [id, shown.includes(id)])),
    [columns, shown],
  );
  const table = useTable({
    features,
    columns,
    data: NO_ROWS,
    state: { columnOrder: shown, columnVisibility: visibility, columnSizing: sizing },
    onColumnSizingChange: setSizing,
    columnResizeMode: 'onChange',
  });
  const isResizing = table.state.columnResizing.isResizingColumn !== false;
  const latest = useRef({ sizing, onWidths });
  latest.current = { sizing, onWidths };
  const wasResizing = useRef(false);
  useEffect(() => {
    if (wasResizing.current && !isResizing) latest.current.onWidths(latest.current.sizing);
    wasResizing.current = isResizing;
  }, [isResizing]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns depend on these
  const shownColumns = useMemo(() => table.getVisibleLeafColumns(), [columns, shown]);
  return { table, shownColumns };
}

/** The groups that the user has closed. Another column has other groups. */
function useClosedGroups(column: string | undefined) {
  const [state, setState] = useState({ column, closed: new Set<string>() });
  const closed = useMemo(() => (state.column === column ? state.closed : new Set<string>()), [state, column]);
  const toggle = useCallback(
    (key: string) =>
      setState((before) => {
        const closed = new Set(before.column === column ? before.closed : []);
        if (!closed.delete(key)) closed.add(key);
        return { column, closed };
      }),
    [column],
  );
  return { closed, toggle };
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

/** j and k move between the rows without a focus in the table. With an open item, they are its keys. */
function usePageKeys(isOn: boolean, move: (by: number) => void) {
  const latest = useRef(move);
  latest.current = move;
  const keys = useMemo((): KeyHandlers => {
    if (!isOn) return {};
    const by = (step: number) => (event: KeyboardEvent) => {
      event.preventDefault();
      latest.current(step);
    };
    return { j: by(1), k: by(-1) };
  }, [isOn]);
  useKeys(keys);
}

/** Scrolls to the open item, focuses it when it is closed, and scrolls to the top when the filter changes. */
function useScrollSync(
  open: ItemTableProps['open'],
  filter: ItemsFilter,
  lines: Lines,
  goTo: (line: number) => void,
  scrollTo: (line: number) => void,
) {
  const line = open?.place === undefined ? undefined : lines.lineOf(open.place);
  const isOpen = open !== undefined;
  const before = useRef<number>(undefined);
  const latest = useRef({ goTo, scrollTo });
  latest.current = { goTo, scrollTo };
  useEffect(() => {
    if (isOpen) {
      if (line !== undefined) {
        latest.current.scrollTo(line);
        before.current = line;
      }
    } else if (before.current !== undefined) {
      latest.current.goTo(before.current);
      before.current = undefined;
    }
  }, [isOpen, line]);

  const filterKey = JSON.stringify({ ...filter, columns: undefined });
  const shownFilter = useRef(filterKey);
  useEffect(() => {
    if (shownFilter.current === filterKey) return;
    shownFilter.current = filterKey;
    latest.current.scrollTo(0);
  }, [filterKey]);
}
