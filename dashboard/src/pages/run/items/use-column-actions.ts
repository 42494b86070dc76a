// What the heads of the columns do: they change the URL.
import { useMemo, useRef } from 'react';
import type { ItemsFilter } from '../../../api/queries';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import type { ColumnActions } from './column-head';
import { nextSort, usualSort } from './filter';
import { columnsText, MAX_WIDTH, MIN_WIDTH, moveColumn, widthsText } from './layout';

interface Layout {
  shown: string[];
  widths: Record<string, number>;
  filter: ItemsFilter;
  /** Opens the form of a condition on a column. */
  onFilter: (name: string) => void;
}

/** Always the same object: heads are not rendered again if only the layout changes. */
export function useColumnActions(layout: Layout): ColumnActions {
  const { set } = useUrlParameters();
  const latest = useRef({ ...layout, set });
  latest.current = { ...layout, set };
  return useMemo((): ColumnActions => {
    const now = () => latest.current;
    return {
      onSort: (sort, order) => {
        const { set, filter } = now();
        if (order === undefined) return set(nextSort(sort, filter));
        set({
          sort: sort === usualSort(filter) ? undefined : sort,
          order: order === 'asc' ? undefined : order,
        });
      },
      onFilter: (name) => now().onFilter(name),
      onGroup: (group) => now().set({ group }),
      onResize: (id, width) => {
        const { [id]: _, ...others } = now().widths;
        const kept = width === undefined ? undefined : Math.min(Math.max(width, MIN_WIDTH), MAX_WIDTH);
        now().set({ widths: widthsText(kept === undefined ? others : { ...others, [id]: kept }) });
      },
      onMove: (id, target) => now().set({ columns: columnsText(moveColumn(now().shown, id, target)) }),
      onHide: (id) => now().set({ columns: columnsText(now().shown.filter((other) => other !== id)) }),
    };
  }, []);
}
