// The virtualized matrix of items and runs, loaded page by page while scrolling.
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type Ref, useMemo, useRef } from 'react';
import { type MatrixFilter, matrixQuery } from '../../api/queries';
import type { Matrix, Ranking } from '../../api/types';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { Spacer } from '../../components/spacer';
import { itemWindow, laterPages } from '../../lib/item-window';
import { useKeys } from '../../lib/use-keys';
import { MatrixHead } from './matrix-head';
import { MatrixRows } from './matrix-rows';
import type { MatrixSort } from './sort';

/** The estimated height of an item in pixels. */
const ITEM_HEIGHT = 112;
/** The size of the box until it is measured. */
const INITIAL_SIZE = { width: 1200, height: 640 };

interface MatrixTableProps {
  matrix: Matrix;
  ranking: Ranking;
  start: UseQueryResult<Matrix>;
  filter: MatrixFilter;
  /** The evaluator whose scores are in the head; empty for the mean over all. */
  evaluator: string;
  sort: MatrixSort;
  onSort: (key: string) => void;
  /** The key of the open item. */
  open: string;
  onToggle: (key: string) => void;
}

export function MatrixTable(props: MatrixTableProps) {
  const { matrix, ranking, start, filter, evaluator, sort, onSort, open, onToggle } = props;
  const box = useRef<HTMLDivElement>(null);
  const labels = ranking.runs.map((run) => run.label);
  const virtual = useVirtualizer({
    count: matrix.matching,
    getScrollElement: () => box.current,
    estimateSize: () => ITEM_HEIGHT,
    initialRect: INITIAL_SIZE,
    overscan: 8,
  });
  useItemKeys(box);
  const rows = virtual.getVirtualItems();
  const pages = laterPages(start, [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0]);
  const later = useQueries({ queries: pages.map((page) => matrixQuery(filter, page)) });
  const items = itemWindow(start, pages, later);
  const before = rows[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (rows.at(-1)?.end ?? 0);
  const columns = matrix.runs.length + 1;
  return (
    <>
      <div
        ref={box}
        className="relative min-h-112 grow basis-0 overflow-auto overscroll-x-contain rounded-lg border border-line bg-surface"
      >
        <table
          aria-rowcount={matrix.matching + 1}
          aria-busy={start.isPlaceholderData}
          className="w-full table-fixed border-separate border-spacing-0 text-left max-lg:block lg:min-w-(--matrix-width)"
          style={{ '--matrix-width': `${15 + 11 * matrix.runs.length}rem` } as CSSProperties}
        >
          <caption className="sr-only">Items with the output of each run</caption>
          <MatrixHead ranking={ranking} evaluator={evaluator} sort={sort} onSort={onSort} />
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

/** `j` and `k` move the focus to the next and the previous item. */
function useItemKeys(box: React.RefObject<HTMLDivElement | null>) {
  const keys = useMemo(() => {
    const step = (by: number) => {
      const items = [...(box.current?.querySelectorAll<HTMLElement>('[data-item]') ?? [])];
      const current = items.findIndex((item) => item.contains(document.activeElement));
      const next = current < 0 ? items.find((item) => isBelow(item, box.current)) : items[current + by];
      next?.focus();
      next?.scrollIntoView({ block: 'nearest' });
    };
    return { j: () => step(1), k: () => step(-1) };
  }, [box]);
  useKeys(keys);
}

/** Whether an element is not above the visible part of the box. */
const isBelow = (element: HTMLElement, box: HTMLElement | null) =>
  element.getBoundingClientRect().top >= (box?.getBoundingClientRect().top ?? 0);

interface PlaceholderRowProps {
  ref: Ref<HTMLTableSectionElement>;
  index: number;
  columns: number;
}

/** An item that is not loaded yet. */
function PlaceholderRow({ ref, index, columns }: PlaceholderRowProps) {
  return (
    <tbody ref={ref} data-index={index} className="max-lg:block">
      <tr aria-rowindex={index + 2} className="max-lg:block">
        <td colSpan={columns} className="border-line border-t px-4 py-2.5 max-lg:block">
          <Skeleton label="Loading an item" className="h-20" />
        </td>
      </tr>
    </tbody>
  );
}
