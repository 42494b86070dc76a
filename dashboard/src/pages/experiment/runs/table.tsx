// An experiment's runs as a virtualized table that scrolls in its own box.
import { useVirtualizer } from '@tanstack/react-virtual';
import clsx from 'clsx';
import { GitCompareArrows } from 'lucide-react';
import { useCallback, useMemo, useRef } from 'react';
import { Link, useNavigate } from 'react-router';
import type { RunRow } from '../../../api/types';
import { CutText } from '../../../components/cut-text';
import { ariaSort, SortButton } from '../../../components/sort-button';
import { comparisonUrl, runUrl } from '../../../lib/addresses';
import { formatDateTime } from '../../../lib/format';
import { useTop } from '../../../lib/use-top';
import { SelectCheckbox } from '../../runs/cells';
import { Gap } from '../../runs/gap';
import { openRow } from '../../runs/open-row';
import { useRowKeys } from '../../runs/use-row-keys';
import type { SelectedRuns } from '../../runs/use-selected-runs';
import type { RunColumn } from './columns';
import type { RunOrder } from './use-run-order';

/** In pixels; a row includes its border. */
const ROW_HEIGHT = 57;
const HEADER_HEIGHT = 36;
const SELECT_WIDTH = 44;
const COMPARE_WIDTH = 52;
/** The space below the table. */
const MARGIN = 24;
/** The size of the table until it is measured. */
const INITIAL_SIZE = { width: 1200, height: 640 };

interface ExperimentRunTableProps {
  runs: RunRow[];
  columns: RunColumn[];
  order: RunOrder;
  baseline: string | undefined;
  selection: SelectedRuns;
  /** The run before each run. */
  previousOf: (run: RunRow) => RunRow | undefined;
}

export function ExperimentRunTable(props: ExperimentRunTableProps) {
  const { runs, columns, order, baseline, selection, previousOf } = props;
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
  const width = columns.reduce((sum, column) => sum + column.width, SELECT_WIDTH + COMPARE_WIDTH);
  return (
    <section
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
      aria-label="Runs of the experiment"
      className="relative min-h-60 overflow-auto overscroll-x-contain rounded-lg border border-line bg-surface"
      style={{ maxHeight: `calc(100dvh - ${top + MARGIN}px)` }}
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
          <col style={{ width: COMPARE_WIDTH }} />
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" className={clsx(HEAD, 'left-0 z-20')}>
              <span className="sr-only">Select</span>
            </th>
            {columns.map((column, place) => (
              <Head key={column.key} column={column} order={order} isFirst={place === 0} />
            ))}
            <th scope="col" className={clsx(HEAD, 'z-10')}>
              <span className="sr-only">Compare with previous</span>
            </th>
          </tr>
        </thead>
        <Gap height={items[0]?.start ?? 0} />
        <tbody>
          {items.map(({ index }) => {
            const run = runs[index];
            if (run === undefined) return null;
            const isSelected = selection.ids.includes(run.id);
            const context = { isBaseline: run.id === baseline, changeOf: order.changeOf };
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
                <td className={CELL}>
                  <CompareWithPrevious run={run} previous={previousOf(run)} />
                </td>
              </tr>
            );
          })}
        </tbody>
        <Gap height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} />
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

function CompareWithPrevious({ run, previous }: { run: RunRow; previous: RunRow | undefined }) {
  if (previous === undefined) return null;
  const label = `Compare with the previous run of ${formatDateTime(previous.timestamp)}`;
  return (
    <Link
      to={comparisonUrl(run.id, [previous.id], 'regressed')}
      aria-label={label}
      title={`${label}: what regressed`}
      className="grid size-7 place-items-center rounded text-accent hover:bg-accent-soft"
    >
      <GitCompareArrows className="size-4" aria-hidden="true" />
    </Link>
  );
}
