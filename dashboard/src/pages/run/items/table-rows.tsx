// The rows of the items table. Only these are rendered again while scrolling.
import { useVirtualizer } from '@tanstack/react-virtual';
import clsx from 'clsx';
import {
  type CSSProperties,
  type FocusEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { ItemsFilter } from '../../../api/queries';
import { ErrorMessage } from '../../../components/error-message';
import { SpacerRow } from '../../../components/spacer';
import { type KeyHandlers, useKeys } from '../../../lib/use-keys';
import { ROW_HEIGHTS, type RowHeight } from './layout';
import { type Lines, linesOf } from './lines';
import { GroupRow, Row, type ShownColumn } from './row';
import { useItemRowKeys } from './use-item-row-keys';
import { type useFirstPage, useVisibleItems } from './use-items';

/** In pixels. */
const GROUP_HEIGHT = 40;
/** The number of extra rows rendered outside the viewport. */
const OVERSCAN = 8;
/** The size of the table until it is measured. */
const INITIAL_SIZE = { width: 1200, height: 640 };

/** The open item, and its place among the matching items. */
interface OpenItem {
  key: string;
  place: number | undefined;
}

export interface RowsProps {
  id: string;
  filter: ItemsFilter;
  start: ReturnType<typeof useFirstPage>;
  /** The number of matching items; an estimate until the first page is loaded. */
  matching: number;
  rowHeight: RowHeight;
  open: OpenItem | undefined;
}

interface TableRowsProps extends RowsProps {
  /** What scrolls. */
  box: RefObject<HTMLDivElement | null>;
  head: RefObject<HTMLTableSectionElement | null>;
  columns: ShownColumn[];
  isPinned: boolean;
  hasFiller: boolean;
}

export function TableRows(props: TableRowsProps) {
  const { id, filter, start, matching, rowHeight, open, box, head, columns, isPinned, hasFiller } = props;
  const { closed, toggle } = useClosedGroups(filter.group);
  const groups = start.data?.groups;
  const lines = useMemo(() => linesOf(matching, groups, closed), [matching, groups, closed]);
  const height = ROW_HEIGHTS[rowHeight];
  const headHeight = () => head.current?.offsetHeight ?? GROUP_HEIGHT;
  const virtual = useVirtualizer({
    count: lines.count,
    getScrollElement: () => box.current,
    estimateSize: (line) => (lines.at(line).kind === 'group' ? GROUP_HEIGHT : height),
    overscan: OVERSCAN,
    scrollPaddingStart: headHeight(),
    initialRect: INITIAL_SIZE,
  });
  // The heights are remembered otherwise.
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again if the lines change
  useEffect(() => virtual.measure(), [virtual, height, lines]);

  const virtualItems = virtual.getVirtualItems();
  const visible = virtualItems.map(({ index }) => ({ index, line: lines.at(index) }));
  const places = visible.flatMap(({ line }) => (line.kind === 'item' ? [line.place] : []));
  const items = useVisibleItems(id, filter, start, places);
  const keys = useItemRowKeys({
    box,
    count: lines.count,
    page: () => Math.floor(((box.current?.clientHeight ?? INITIAL_SIZE.height) - headHeight()) / height),
    scrollTo: (line) => virtual.scrollToIndex(line),
  });
  useScrollSync(open, filter, lines, keys.goTo, virtual.scrollToIndex);
  usePageKeys(open === undefined, keys.move);

  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    // Links work by themselves, and a selected text is to be copied.
    if (!isPlain || target.closest('a, button') !== null || window.getSelection()?.isCollapsed === false)
      return;
    target.closest('[data-item]')?.querySelector('a')?.click();
  };
  const onFocus = (event: FocusEvent) => {
    const line = event.target.closest<HTMLElement>('[data-line]')?.dataset.line;
    if (line !== undefined) keys.setActive(Number(line));
  };
  const count = columns.length + (hasFiller ? 1 : 0);
  return (
    <tbody
      data-height={rowHeight}
      onKeyDown={keys.onKeyDown}
      onClick={onClick}
      onFocus={onFocus}
      className={clsx('group/rows', start.isPlaceholderData && 'opacity-60')}
      style={{ '--row': `${height}px` } as CSSProperties}
    >
      {items.error !== null && (
        <tr>
          <td colSpan={count}>
            <ErrorMessage title="Failed to load the items" error={items.error} onRetry={items.retry} />
          </td>
        </tr>
      )}
      <SpacerRow height={virtualItems[0]?.start ?? 0} columns={count} />
      {visible.map(({ index, line }) =>
        line.kind === 'group' ? (
          <GroupRow
            key={index}
            line={index}
            group={line.group}
            isOpen={line.isOpen}
            columns={columns}
            hasFiller={hasFiller}
            onToggle={toggle}
          />
        ) : (
          <Row
            key={index}
            line={index}
            item={items.at(line.place)}
            columns={columns}
            isOpen={open !== undefined && items.at(line.place)?.key === open.key}
            isPinned={isPinned}
            hasFiller={hasFiller}
          />
        ),
      )}
      <SpacerRow height={virtual.getTotalSize() - (virtualItems.at(-1)?.end ?? 0)} columns={count} />
    </tbody>
  );
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
  open: OpenItem | undefined,
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
