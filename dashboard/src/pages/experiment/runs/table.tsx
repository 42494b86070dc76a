// An experiment's runs as a virtualized table that scrolls in its own box.
import { useVirtualizer } from '@tanstack/react-virtual';
import clsx from 'clsx';
import { useCallback, useMemo, useRef } from 'react';
import { useNavigate } from 'react-router';
import type { RunRow } from '../../../api/types';
import { CutText } from '../../../components/cut-text';
import { ariaSort, SortButton } from '../../../components/sort-button';
import { Spacer } from '../../../components/spacer';
import { runUrl } from '../../../lib/addresses';
import { openRow } from '../../../lib/open-row';
import { useRowKeys } from '../../../lib/use-row-keys';
import { useTop } from '../../../lib/use-top';
import { SelectCheckbox } from '../../runs/cells';
import type { SelectedRuns } from '../../runs/use-selected-runs';
import type { CellContext, RunColumn } from './columns';
import type { RunOrder } from './use-run-order';

/** In pixels; a row includes its border. */
const ROW_HEIGHT = 57;
const HEADER_HEIGHT = 36;
const SELECT_WIDTH = 44;
/** The space below the table, without and with the bar of the selected runs. */
const MARGIN = 24;
const BAR_MARGIN = 64;
/** The size of the table until it is measured. */
const INITIAL_SIZE = { width: 1200, height: 640 };

interface ExperimentRunTableProps {
  runs: RunRow[];
  columns: RunColumn[];
  order: RunOrder;
  selection: SelectedRuns;
  contextOf: (run: RunRow) => CellContext;
}

export function ExperimentRunTable(props: ExperimentRunTableProps) {
  const { runs, columns, order, selection, contextOf } = props;
  const navigate = useNavigate();
  const box = useRef<HTMLElement>(null);
  const top = useTop(box);
  const virtual = useVirtualizer({
    count: runs.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollPaddingStart: HEADER_HEIGHT,
    initialRect: INITIAL_SIZE,
  });
  const items = virtual.getVirtualItems();
  const ids = useMemo(() => runs.map(({ id }) => id), [runs]);
  const { scrollToIndex } = virtual;
  useRowKeys(
    ids,
    useCallback((index: number) => scrollToIndex(index), [scrollToIndex]),
    selection.toggle,
  );
  const width = columns.reduce((sum, column) => sum + column.width, SELECT_WIDTH);
  return (
    <section
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
      aria-label="Runs of the experiment"
      className="relative min-h-60 overflow-auto overscroll-x-contain rounded-lg border border-line bg-surface"
      style={{ maxHeight: `calc(100dvh - ${top + (selection.ids.length > 0 ? BAR_MARGIN : MARGIN)}px)` }}
    >
      <table
        aria-label="Runs"
        aria-rowcount={runs.length + 1}
        className="w-full table-fixed border-separate border-spacing-0"
        style={{ minWidth: width }}
      >
        <colgroup>
          <col style={{ width: SELECT_WIDTH }} />
          {columns.map((column, place) => (
            <col key={column.key} style={{ width: place === 0 ? undefined : column.width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" className={clsx(HEAD, 'left-0 z-20')}>
              <span className="sr-only">Select</span>
            </th>
            {columns.map((column, place) => (
              <Head key={column.key} column={column} order={order} isFirst={place === 0} />
            ))}
          </tr>
        </thead>
        <Spacer height={items[0]?.start ?? 0} />
        <tbody>
          {items.map(({ index }) => {
            const run = runs[index];
            if (run === undefined) return null;
            const isSelected = selection.ids.includes(run.id);
            const context = contextOf(run);
            return (
              <tr
                key={run.id}
                aria-rowindex={index + 2}
                data-selected={isSelected || undefined}
                onClick={(event) => openRow(event, runUrl(run.id), navigate)}
                className="group h-[57px] cursor-pointer"
              >
                <td className={clsx(CELL, STICKY, 'left-0 pl-4')}>
                  <SelectCheckbox run={run} selection={selection} />
                </td>
                {columns.map((column, place) => (
                  <td
                    key={column.key}
                    className={clsx(
                      CELL,
                      place === 0 && clsx(STICKY, 'left-11'),
                      column.isNumber && 'text-right tabular-nums',
                    )}
                  >
                    {column.cell(run, context)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
        <Spacer height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} />
      </table>
    </section>
  );
}

const HEAD =
  'sticky top-0 h-9 border-line border-b bg-surface px-3 text-left font-medium text-muted text-xs whitespace-nowrap';

const CELL =
  'overflow-hidden border-line border-b bg-surface px-3 py-0 align-middle group-hover:bg-sunken group-has-[[data-row]:focus-visible]:bg-accent-soft group-data-selected:bg-accent-soft';

/** Stays in view while the scores scroll. */
const STICKY = 'sticky z-[5]';

interface HeadProps {
  column: RunColumn;
  order: RunOrder;
  isFirst: boolean;
}

function Head({ column: { key, name, value, isNumber }, order, isFirst }: HeadProps) {
  const direction = key === order.sort ? order.order : undefined;
  return (
    <th
      scope="col"
      aria-sort={ariaSort(direction)}
      className={clsx(HEAD, isNumber && 'text-right', isFirst ? 'left-11 z-20' : 'z-10')}
    >
      {value === undefined ? (
        name
      ) : (
        <SortButton order={direction} isNumber={isNumber} onClick={() => order.sortBy(key)}>
          <CutText>{name}</CutText>
        </SortButton>
      )}
    </th>
  );
}
