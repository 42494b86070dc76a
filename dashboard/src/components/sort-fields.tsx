// The order of a list in a narrow window; a wide one has the heads of a table.
import { ArrowDownNarrowWide, ArrowUpNarrowWide } from 'lucide-react';
import { IconButton } from './button';
import { Select } from './select';
import type { SortOrder } from './sort-button';

interface SortFieldsProps<Key extends string> {
  sort: Key;
  order: SortOrder;
  options: readonly { value: Key; name: string }[];
  /** Called with another key than the current one. */
  onSort: (key: Key) => void;
  onReverse: () => void;
}

export function SortFields<Key extends string>(props: SortFieldsProps<Key>) {
  const { sort, order, options, onSort, onReverse } = props;
  const Arrow = order === 'asc' ? ArrowUpNarrowWide : ArrowDownNarrowWide;
  return (
    <div className="flex w-full gap-2 md:w-auto">
      <Select
        label="Sort by"
        value={sort}
        options={options.map(({ value, name }) => ({ value, name: `Sort by: ${name}` }))}
        onChange={(key) => key !== sort && onSort(key)}
        className="min-w-0 grow"
      />
      <IconButton
        look="plain"
        label={order === 'asc' ? 'Ascending; switch to descending' : 'Descending; switch to ascending'}
        onClick={onReverse}
      >
        <Arrow />
      </IconButton>
    </div>
  );
}
