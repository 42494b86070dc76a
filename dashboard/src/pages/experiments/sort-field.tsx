// The order of the experiments in a narrow window; a wide one has the table heads.
import { ArrowDownNarrowWide, ArrowUpNarrowWide } from 'lucide-react';
import { IconButton } from '../../components/button';
import { Select } from '../../components/select';
import { type ExperimentOrder, SORTS, type SortKey } from './use-order';

export function SortField({ order: { sort, order, sortBy } }: { order: ExperimentOrder }) {
  const Arrow = order === 'asc' ? ArrowUpNarrowWide : ArrowDownNarrowWide;
  return (
    <div className="flex w-full gap-2 sm:w-auto">
      <Select
        label="Sort by"
        value={sort}
        options={Object.entries(SORTS).map(([key, { name }]) => ({
          value: key as SortKey,
          name: `Sort by: ${name}`,
        }))}
        onChange={(key) => key !== sort && sortBy(key)}
        className="grow"
      />
      <IconButton
        look="plain"
        label={order === 'asc' ? 'Ascending; switch to descending' : 'Descending; switch to ascending'}
        onClick={() => sortBy(sort)}
      >
        <Arrow />
      </IconButton>
    </div>
  );
}
