// The items of a run as a table, with the columns of the URL.
import { useTable } from '@tanstack/react-table';
import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { useIsWide } from '../../../lib/use-media-query';
import { useOverflows } from '../../../lib/use-overflows';
import { type ColumnActions, ColumnHead } from './column-head';
import { features, type ItemColumn, NO_ROWS } from './columns';
import { NAME_COLUMN } from './layout';
import type { ShownColumn } from './row';
import { type RowsProps, TableRows } from './table-rows';

interface ItemTableProps extends RowsProps {
  columns: ItemColumn[];
  /** The shown columns in their order. */
  shown: string[];
  widths: Record<string, number>;
  actions: ColumnActions;
  onWidths: (widths: Record<string, number>) => void;
  /** What the head of a column has below its name. */
  headOf: (column: ItemColumn) => ReactNode;
}

export const ItemTable = memo(function ItemTable(props: ItemTableProps) {
  const { columns, shown, widths, actions, onWidths, headOf, ...rows } = props;
  const { filter, start, matching } = rows;
  const box = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLTableSectionElement>(null);
  const { table, shownColumns } = useColumnTable(props);
  const { columnSizing } = table.state;
  // Each pinned cell is a layer of its own, which makes scrolling slower.
  const overflows = useOverflows(box);
  const isPinned = useIsWide() && overflows && shown[0] === NAME_COLUMN;
  const hasFiller = shownColumns.every((column) => !isFlexible(column, columnSizing));
  const lines = matching + (start.data?.groups?.length ?? 0);
  return (
    <div ref={box} className="relative min-h-0 grow overflow-auto overscroll-contain bg-surface">
      <table
        aria-rowcount={lines + 1}
        aria-busy={start.isPlaceholderData || start.isPending}
        className="w-full table-fixed border-separate border-spacing-0"
        style={{ minWidth: table.getTotalSize() }}
      >
        <caption className="sr-only">Items</caption>
        <colgroup>
          {shownColumns.map((column) => (
            <col
              key={column.id}
              style={{ width: isFlexible(column, columnSizing) ? undefined : column.getSize() }}
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
                before={shownColumns[place - 1]?.id}
                after={shownColumns[place + 1]?.id}
                isPinned={isPinned && place === 0}
                actions={actions}
              >
                {headOf(header.column.columnDef as ItemColumn)}
              </ColumnHead>
            ))}
            {hasFiller && <td className="border-line border-b bg-sunken" />}
          </tr>
        </thead>
        <TableRows
          {...rows}
          box={box}
          head={head}
          columns={shownColumns}
          isPinned={isPinned}
          hasFiller={hasFiller}
        />
      </table>
    </div>
  );
});

/** Whether a column shares the remaining space: it was not resized. */
const isFlexible = ({ id, columnDef: { meta } }: ShownColumn, widths: Record<string, number>) =>
  meta?.isFlexible === true && widths[id] === undefined;

/** The table with its columns. Widths are kept in the URL once a column is no longer dragged. */
function useColumnTable({ columns, shown, widths, onWidths }: ItemTableProps) {
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
