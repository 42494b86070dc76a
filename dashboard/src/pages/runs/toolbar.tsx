// Search, filters and sort order of the runs.

import { SlidersHorizontal } from 'lucide-react';
import { useCallback, useState } from 'react';
import { StartExperiment } from '../../actions/start-experiment';
import type { Runs } from '../../api/types';
import { IconButton } from '../../components/button';
import { DateField, SearchField } from '../../components/field';
import { Select } from '../../components/select';
import { SortFields } from '../../components/sort-fields';
import { escapeHidden } from '../../lib/texts';
import { useMediaQuery } from '../../lib/use-media-query';
import { type Filters, SORTS, type Sort, VERDICTS } from './use-filters';

/** The sort keys in a narrow window; a wide one has the table headers. */
const NARROW_SORTS = (
  ['timestamp', 'name', 'verdict', 'score', 'items', 'errors', 'duration', 'cost'] satisfies Sort[]
).map((value) => ({ value: value as Sort, name: SORTS[value] }));

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
      {isNarrow && (
        <SortFields
          sort={filters.sort}
          order={filters.order}
          options={NARROW_SORTS}
          onSort={filters.sortBy}
          onReverse={filters.reverseOrder}
        />
      )}
      {!isNarrow && (
        <div className="ml-auto">
          <StartExperiment />
        </div>
      )}
    </search>
  );
}

function Fields({ filters: { query, set }, known }: Parameters<typeof Toolbar>[0]) {
  const names = (counted: Runs['tags'] = [], selected: string | undefined) => {
    // Keep the selected value in the list, even if no run has it any more.
    const isKnown = selected === undefined || counted.some(({ name }) => name === selected);
    return (isKnown ? counted : [{ name: selected, runs: 0 }, ...counted]).map(({ name, runs }) => ({
      value: name,
      name: `${escapeHidden(name)} (${runs})`,
    }));
  };
  return (
    <div className="grid w-full grid-cols-2 gap-2 md:contents">
      <Select
        label="Experiment"
        value={query.experiment ?? ''}
        options={[{ value: '', name: 'All experiments' }, ...names(known?.experiments, query.experiment)]}
        onChange={(experiment) => set({ experiment })}
        className="min-w-0 md:max-w-52"
      />
      <Select<string>
        label="Verdict"
        value={query.verdict ?? ''}
        options={[
          { value: '', name: 'All verdicts' },
          ...Object.entries(VERDICTS).map(([value, name]) => ({ value, name })),
        ]}
        onChange={(verdict) => set({ verdict })}
      />
      <Select
        label="Tag"
        value={query.tag ?? ''}
        options={[{ value: '', name: 'All tags' }, ...names(known?.tags, query.tag)]}
        onChange={(tag) => set({ tag })}
        className="min-w-0 max-md:col-span-2 md:max-w-44"
      />
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
