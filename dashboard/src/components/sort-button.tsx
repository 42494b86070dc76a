// The button in a column head that sorts by the column.
import clsx from 'clsx';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';

export type SortOrder = 'asc' | 'desc';

interface SortButtonProps {
  /** The order, if the table is sorted by this column. */
  order: SortOrder | undefined;
  isNumber?: boolean;
  onClick: () => void;
  children: ReactNode;
}

export function SortButton({ order, isNumber = false, onClick, children }: SortButtonProps) {
  const Arrow = order === 'asc' ? ArrowUp : order === 'desc' ? ArrowDown : ChevronsUpDown;
  return (
    <button
      type="button"
      onClick={onClick}
      className={clsx(
        'group -mx-1 inline-flex max-w-full items-center gap-1 rounded px-1 align-middle hover:text-text',
        order !== undefined && 'text-text',
        isNumber && 'flex-row-reverse',
      )}
    >
      {children}
      {/* Without an order, it takes no space until it is shown. */}
      <span
        className={clsx(
          'flex shrink-0',
          order === undefined && 'w-0 opacity-0 group-hover:opacity-60 group-focus-visible:opacity-60',
          isNumber && 'justify-end',
        )}
      >
        <Arrow aria-hidden="true" className="size-3.5 shrink-0" />
      </span>
    </button>
  );
}

/** The value of `aria-sort` of the column head. */
export const ariaSort = (order: SortOrder | undefined) =>
  order === undefined ? undefined : order === 'asc' ? 'ascending' : 'descending';
