// The head of a column: it sorts the items, and is resized and moved by mouse and keyboard. That of an evaluator has its figures.
import type { Header } from '@tanstack/react-table';
import clsx from 'clsx';
import { ArrowDown, ArrowUp, ChevronsUpDown, EllipsisVertical } from 'lucide-react';
import {
  type DragEvent,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type TouchEvent,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import type { ItemsFilter } from '../../../api/queries';
import type { ItemRow } from '../../../api/types';
import { CutText } from '../../../components/cut-text';
import { Menu, MenuAction, MenuSeparator } from '../../../components/menu';
import { escapeHidden } from '../../../lib/texts';
import type { features } from './columns';
import { usualSort } from './filter';
import { NAME_COLUMN } from './layout';

/** What a head can do with its column. All functions are stable. */
export interface ColumnActions {
  /** Sorts by the column, by its next order or the given one. */
  onSort: (sort: string, order?: 'asc' | 'desc') => void;
  onFilter: (name: string) => void;
  onGroup: (name: string | undefined) => void;
  /** Sets the width in pixels; `undefined` restores the usual one. */
  onResize: (id: string, width: number | undefined) => void;
  /** Moves the column to the place of another. */
  onMove: (id: string, target: string) => void;
  onHide: (id: string) => void;
}

interface ColumnHeadProps {
  header: Header<typeof features, ItemRow>;
  filter: ItemsFilter;
  /** The columns beside it; undefined at an end. */
  before: string | undefined;
  after: string | undefined;
  isPinned: boolean;
  actions: ColumnActions;
  /** Figures below the name. */
  children?: ReactNode;
}

/** In pixels per key press. */
const STEP = 24;

const DRAGGED = 'application/x-cobalt-column';

export const ColumnHead = memo(function ColumnHead(props: ColumnHeadProps) {
  const { header, filter, before, after, isPinned, actions, children } = props;
  const { id, columnDef } = header.column;
  const { label = '', sort, isNumber = false } = columnDef.meta ?? {};
  const direction =
    sort === undefined || sort !== (filter.sort ?? usualSort(filter))
      ? 'none'
      : filter.order === 'desc'
        ? 'descending'
        : 'ascending';
  const [isTarget, setIsTarget] = useState(false);
  const cell = useRef<HTMLTableCellElement>(null);
  // The rendered width: a flexible column may be wider than its usual one.
  const widthNow = () => cell.current?.offsetWidth ?? header.getSize();
  const onWiden = (by: number) => actions.onResize(id, widthNow() + by);
  const startResize = (event: MouseEvent | TouchEvent) => {
    // The head grows under the pointer, and would be dragged.
    if (event.type === 'mousedown') event.preventDefault();
    flushSync(() => header.getContext().table.setColumnSizing((before) => ({ ...before, [id]: widthNow() })));
    header.getResizeHandler()(event);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.shiftKey || event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return;
    event.preventDefault();
    const isLeft = event.key === 'ArrowLeft';
    const neighbour = isLeft ? before : after;
    if (!event.ctrlKey && !event.metaKey) onWiden(isLeft ? -STEP : STEP);
    else if (neighbour !== undefined) actions.onMove(id, neighbour);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsTarget(false);
    const dragged = event.dataTransfer.getData(DRAGGED);
    if (dragged !== '' && dragged !== id) actions.onMove(dragged, id);
  };
  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(DRAGGED)) return;
    event.preventDefault();
    setIsTarget(true);
  };
  return (
    <th
      ref={cell}
      scope="col"
      aria-label={escapeHidden(label)}
      aria-sort={sort === undefined ? undefined : direction}
      onKeyDown={onKeyDown}
      onDragOver={onDragOver}
      onDragLeave={() => setIsTarget(false)}
      onDrop={onDrop}
      className={clsx(
        'group/head relative border-line border-b bg-sunken px-3 py-1.5 text-left align-top font-medium text-muted text-xs',
        isPinned && 'sticky left-0 z-10 border-r',
        isTarget && 'shadow-[inset_2px_0_var(--accent)]',
      )}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: columns are also moved by keyboard and menu */}
      <div
        draggable
        onDragStart={(event) => {
          event.dataTransfer.setData(DRAGGED, id);
          event.dataTransfer.effectAllowed = 'move';
        }}
        className="flex min-w-0 items-center"
      >
        <Name label={label} sort={sort} direction={direction} isNumber={isNumber} onSort={actions.onSort} />
        <ColumnMenu {...props} label={label} direction={direction} onWiden={onWiden} />
      </div>
      {children}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: columns are also resized by keyboard and menu */}
      <div
        onMouseDown={startResize}
        onTouchStart={startResize}
        onDoubleClick={() => actions.onResize(id, undefined)}
        className="absolute inset-y-0 right-0 w-2 cursor-col-resize touch-none border-line border-r hover:border-r-3 hover:border-accent"
      />
    </th>
  );
});

const ICONS = { none: ChevronsUpDown, ascending: ArrowUp, descending: ArrowDown };

interface NameProps {
  label: string;
  sort: string | undefined;
  direction: keyof typeof ICONS;
  isNumber: boolean;
  onSort: ColumnActions['onSort'];
}

function Name({ label, sort, direction, isNumber, onSort }: NameProps) {
  if (sort === undefined) return <CutText className="h-6 grow leading-6">{label}</CutText>;
  const Icon = ICONS[direction];
  return (
    <button
      type="button"
      aria-keyshortcuts="Shift+ArrowLeft Shift+ArrowRight Control+Shift+ArrowLeft Control+Shift+ArrowRight"
      onClick={() => onSort(sort)}
      className={clsx(
        'flex h-6 min-w-0 grow items-center gap-1 rounded text-left hover:text-text',
        isNumber && 'justify-end',
        direction !== 'none' && 'text-text',
      )}
    >
      <CutText>{label}</CutText>
      <Icon
        aria-hidden="true"
        className={clsx(
          'size-3 shrink-0',
          direction === 'none' &&
            'opacity-0 group-focus-within/head:opacity-100 group-hover/head:opacity-100',
        )}
      />
    </button>
  );
}

function ColumnMenu({
  header,
  filter,
  before,
  after,
  actions,
  label,
  direction,
  onWiden,
}: ColumnHeadProps & { label: string; direction: NameProps['direction']; onWiden: (by: number) => void }) {
  const { id, columnDef } = header.column;
  const { sort, name } = columnDef.meta ?? {};
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`Column ${escapeHidden(label)}`}
          className="absolute top-1.5 right-2 flex size-6 items-center justify-center rounded bg-sunken opacity-0 hover:bg-line hover:text-text focus-visible:opacity-100 group-focus-within/head:opacity-100 group-hover/head:opacity-100 data-popup-open:opacity-100 pointer-coarse:opacity-100"
        />
      }
      name={<EllipsisVertical aria-hidden="true" className="size-3.5" />}
    >
      {sort !== undefined && (
        <>
          <MenuAction isDisabled={direction === 'ascending'} onClick={() => actions.onSort(sort, 'asc')}>
            Sort ascending
          </MenuAction>
          <MenuAction isDisabled={direction === 'descending'} onClick={() => actions.onSort(sort, 'desc')}>
            Sort descending
          </MenuAction>
        </>
      )}
      {name !== undefined && (
        <>
          <MenuAction onClick={() => actions.onFilter(name)}>Filter…</MenuAction>
          <MenuAction onClick={() => actions.onGroup(filter.group === name ? undefined : name)}>
            {filter.group === name ? 'Ungroup' : 'Group by this column'}
          </MenuAction>
        </>
      )}
      <MenuSeparator />
      <MenuAction
        isDisabled={before === undefined}
        onClick={() => before !== undefined && actions.onMove(id, before)}
      >
        Move left
      </MenuAction>
      <MenuAction
        isDisabled={after === undefined}
        onClick={() => after !== undefined && actions.onMove(id, after)}
      >
        Move right
      </MenuAction>
      <MenuAction onClick={() => onWiden(2 * STEP)}>Wider</MenuAction>
      <MenuAction onClick={() => onWiden(-2 * STEP)}>Narrower</MenuAction>
      <MenuAction onClick={() => actions.onResize(id, undefined)}>Reset width</MenuAction>
      {id !== NAME_COLUMN && <MenuAction onClick={() => actions.onHide(id)}>Hide column</MenuAction>}
    </Menu>
  );
}
