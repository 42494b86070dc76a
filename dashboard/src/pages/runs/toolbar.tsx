// Search, filters and sort order of the runs.
import { ArrowDownNarrowWide, ArrowUpNarrowWide, SlidersHorizontal } from 'lucide-react';
import { useCallback, useState } from 'react';
import type { Runs } from '../../api/types';
import { IconButton } from '../../components/button';
import { DateField, SearchField, SelectField } from '../../components/field';
import { escapeHidden } from '../../lib/texts';
import { useMediaQuery } from '../../lib/use-media-query';
import { type Filters, SORTS, type Sort, VERDICTS } from './use-filters';

/** The sort keys in a narrow window; a wide one has the table headers. */
const NARROW_SORTS: Sort[] = ['timestamp', 'name', 'verdict', 'score', 'items', 'errors', 'duration', 'cost'];

export function Toolbar({
  filters,
  known,
}: {
  filters: Filters;
  known: Pick<Runs, 'experiments' | 'tags'> | undefined;
}) {
  const { query, set } = filters;
  const isNarrow = useMediaQuery('(max-width: 767px)');
  const [isOpen, setIsOpen] = useState(filters.active.some((filter) => filter !== 'search'));
  const search = useCallback((text: string) => set({ search: text }), [set]);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <SearchField
        label="Search runs, tags and commits"
        value={query.search ?? ''}
        onChange={search}
        className="min-w-48 grow md:max-w-72"
      />
      {isNarrow && (
        <IconButton
          label="Filters"
          look="plain"
          aria-expanded={isOpen}
          onClick={() => setIsOpen((isOpen) => !isOpen)}
        >
          <SlidersHorizontal />
        </IconButton>
      )}
      {(!isNarrow || isOpen) && <Fields filters={filters} known={known} />}
      {isNarrow && <SortFields filters={filters} />}
    </search>
  );
}

function Fields({ filters: { query, set }, known }: Parameters<typeof Toolbar>[0]) {
  const names = (counted: Runs['tags'] | undefined, selected: string | undefined) =>
    // Keep the selected value in the list, even if no run has it any more.
    selected === undefined || counted?.some(({ name }) => name === selected)
      ? (counted ?? [])
      : [{ name: selected, runs: 0 }, ...(counted ?? [])];
  return (
    <div className="grid w-full grid-cols-2 gap-2 md:contents">
      <SelectField
        label="Experiment"
        value={query.experiment ?? ''}
        onChange={(experiment) => set({ experiment })}
        className="min-w-0 md:max-w-52"
      >
        <option value="">All experiments</option>
        {names(known?.experiments, query.experiment).map(({ name, runs }) => (
          <option key={name} value={name}>{`${escapeHidden(name)} (${runs})`}</option>
        ))}
      </SelectField>
      <SelectField label="Verdict" value={query.verdict ?? ''} onChange={(verdict) => set({ verdict })}>
        <option value="">All verdicts</option>
        {Object.entries(VERDICTS).map(([verdict, label]) => (
          <option key={verdict} value={verdict}>
            {label}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Tag"
        value={query.tag ?? ''}
        onChange={(tag) => set({ tag })}
        className="min-w-0 max-md:col-span-2 md:max-w-44"
      >
        <option value="">All tags</option>
        {names(known?.tags, query.tag).map(({ name, runs }) => (
          <option key={name} value={name}>{`${escapeHidden(name)} (${runs})`}</option>
        ))}
      </SelectField>
      <DateField
        label="Since"
        value={query.since ?? ''}
        max={query.until}
        onChange={(since) => set({ since })}
      />
      <DateField
        label="Until"
        value={query.until ?? ''}
        min={query.since}
        onChange={(until) => set({ until })}
      />
    </div>
  );
}

function SortFields({ filters }: { filters: Filters }) {
  const Arrow = filters.order === 'asc' ? ArrowUpNarrowWide : ArrowDownNarrowWide;
  return (
    <div className="flex w-full gap-2">
      <SelectField
        label="Sort by"
        value={filters.sort}
        onChange={(sort) => filters.sortBy(sort as Sort)}
        className="grow"
      >
        {NARROW_SORTS.map((sort) => (
          <option key={sort} value={sort}>{`Sort by: ${SORTS[sort]}`}</option>
        ))}
      </SelectField>
      <IconButton
        look="plain"
        label={
          filters.order === 'asc' ? 'Ascending; switch to descending' : 'Descending; switch to ascending'
        }
        onClick={filters.reverseOrder}
      >
        <Arrow />
      </IconButton>
    </div>
  );
}
