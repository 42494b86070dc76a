// The runs as a virtualized table.
import { type Header, useTable } from '@tanstack/react-table';
import clsx from 'clsx';
import { useMemo } from 'react';
import { useNavigate } from 'react-router';
import type { RunRow } from '../../api/types';
import { ariaSort, SortButton } from '../../components/sort-button';
import { Spacer } from '../../components/spacer';
import { runUrl } from '../../lib/addresses';
import { openRow } from '../../lib/open-row';
import { useRowKeys } from '../../lib/use-row-keys';
import { useVirtualRows } from '../../lib/use-virtual-rows';
import { SelectCheckbox } from './cells';
import { columns, features } from './columns';
import type { ListProps } from './list';
import type { Filters } from './use-filters';

/** The height of a row in pixels, including its border. */
const ROW_HEIGHT = 57;

/** The height of the sticky page and table headers in pixels. */
const HEADER_HEIGHT = 100;

export function RunTable({ runs, matching, filters, selection, onEnd }: ListProps) {
  const navigate = useNavigate();
  const table = useTable({ features, columns, data: runs, getRowId: (run: RunRow) => run.id });
  const { rows } = table.getRowModel();
  const { list, items, before, after, scrollTo } = useVirtualRows<HTMLTableElement>({
    count: rows.length,
    height: ROW_HEIGHT,
    headerHeight: HEADER_HEIGHT,
    onEnd,
  });
  const ids = useMemo(() => runs.map((run) => run.id), [runs]);
  useRowKeys(ids, scrollTo, selection.toggle);

  return (
    <table ref={list} aria-label="Runs" aria-rowcount={matching + 1} className="w-full table-fixed">
      <thead>
        <tr aria-rowindex={1}>
          <th scope="col" className={clsx(HEADER_CELL, 'w-11 rounded-tl-lg pl-4')}>
            <span className="sr-only">Select</span>
          </th>
          {table.getFlatHeaders().map((header) => (
            <Head key={header.id} header={header} filters={filters} />
          ))}
        </tr>
      </thead>
      <Spacer height={before} />
      <tbody>
        {items.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const isSelected = selection.ids.includes(row.id);
          return (
            <tr
              key={row.id}
              aria-rowindex={item.index + 2}
              onClick={(event) => openRow(event, runUrl(row.id), navigate)}
              className={clsx(
                'h-[57px] cursor-pointer border-line border-t has-[[data-row]:focus-visible]:bg-accent-soft/60',
                isSelected ? 'bg-accent-soft/60' : 'hover:bg-sunken/60',
              )}
            >
              <td className="py-0 pr-0 pl-4 align-middle">
                <SelectCheckbox run={row.original} selection={selection} />
              </td>
              {row.getAllCells().map((cell) => (
                <td
                  key={cell.id}
                  className={clsx('px-3 py-0 align-middle', cellClass(cell.column.columnDef.meta))}
                >
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
      <Spacer height={after} />
    </table>
  );
}

const HEADER_CELL =
  'sticky top-13 z-10 h-9 last:rounded-tr-lg bg-surface px-3 font-medium text-muted text-xs shadow-[inset_0_-1px_var(--line)]';

type Meta = { width: string; isNumber?: boolean } | undefined;

const cellClass = (meta: Meta) => clsx(meta?.width, meta?.isNumber ? 'text-right tabular-nums' : 'text-left');

function Head({ header, filters }: { header: Header<typeof features, RunRow>; filters: Filters }) {
  const { meta, header: name } = header.column.columnDef;
  const sort = meta?.sort;
  const order = sort !== undefined && sort === filters.sort ? filters.order : undefined;
  return (
    <th scope="col" aria-sort={ariaSort(order)} className={clsx(HEADER_CELL, cellClass(meta))}>
      {sort === undefined ? (
        String(name)
      ) : (
        <SortButton
          order={order}
          isNumber={meta?.isNumber}
          onClick={() => (order === undefined ? filters.sortBy(sort) : filters.reverseOrder())}
        >
          {String(name)}
        </SortButton>
      )}
    </th>
  );
}
