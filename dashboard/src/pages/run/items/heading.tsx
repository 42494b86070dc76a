// A column header that sorts the items.
import clsx from 'clsx';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ItemsFilter } from '../../../api/queries';

interface HeadingProps {
  children: ReactNode;
  /** The server's sort key; undefined if the column is not sortable. */
  sort: string | undefined;
  filter: ItemsFilter;
  isNumber: boolean;
  onSort: (sort: string) => void;
}

export function Heading({ children, sort, filter, isNumber, onSort }: HeadingProps) {
  const look = clsx(
    'h-9 border-line border-b bg-sunken px-3 font-medium text-muted text-xs whitespace-nowrap',
    isNumber ? 'text-right' : 'text-left',
  );
  if (sort === undefined) {
    return (
      <th scope="col" className={look}>
        {children}
      </th>
    );
  }
  const direction =
    sort !== (filter.sort ?? 'index') ? 'none' : filter.order === 'desc' ? 'descending' : 'ascending';
  const Icon = { none: ChevronsUpDown, ascending: ArrowUp, descending: ArrowDown }[direction];
  return (
    <th scope="col" aria-sort={direction} className={look}>
      <button
        type="button"
        onClick={() => onSort(sort)}
        className={clsx(
          'group inline-flex max-w-full items-center gap-1 rounded hover:text-text',
          direction !== 'none' && 'text-text',
        )}
      >
        <span className="truncate">{children}</span>
        <Icon
          aria-hidden="true"
          className={clsx('size-3 shrink-0', direction === 'none' && 'opacity-0 group-hover:opacity-100')}
        />
      </button>
    </th>
  );
}
