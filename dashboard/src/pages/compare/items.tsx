// The items of the runs, matched by key, with filters.

import type { CompareFilter } from '../../api/queries';
import type { ComparedRuns } from '../../api/types';
import { EmptyState } from '../../components/empty-state';
import { SearchField } from '../../components/field';
import { Panel } from '../../components/panel';
import { SegmentedControl } from '../../components/segmented-control';
import { Select } from '../../components/select';
import { formatCount, pluralize } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { ItemTable } from './item-table';
import { type CompareParameters, type Only, SORTS } from './parameters';
import type { useComparison } from './use-items';

export interface ItemsProps {
  compared: ComparedRuns;
  start: ReturnType<typeof useComparison>;
  filter: CompareFilter;
  parameters: CompareParameters;
}

export function Items({ compared, start, filter, parameters }: ItemsProps) {
  const { search, evaluator, sort, defaultSort, only, set } = parameters;
  const isFiltered = search !== '' || only !== 'all';
  return (
    <Panel
      title="Items"
      actions={
        <p role="status" className="text-muted text-xs tabular-nums">
          {isFiltered
            ? `${formatCount(compared.matching)} of ${pluralize(compared.total, 'item')}`
            : pluralize(compared.total, 'item')}
        </p>
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SegmentedControl
          label="Filter items"
          value={only}
          options={tabs(compared)}
          onChange={(value) => set({ only: value === 'all' ? '' : value })}
        />
        <SearchField
          label="Search keys, inputs and outputs"
          value={search}
          onChange={(value) => set({ search: value })}
          className="min-w-56 grow sm:max-w-80"
        />
        <Select
          label="Changes by evaluator"
          value={evaluator}
          options={[
            { value: '', name: 'Any evaluator' },
            ...Object.keys(compared.scoreDiffs).map((name) => ({ value: name, name: escapeHidden(name) })),
          ]}
          onChange={(value) => set({ evaluator: value })}
          className="max-w-full max-sm:grow sm:max-w-56"
        />
        <Select<string>
          label="Sort items"
          value={sort}
          options={SORTS}
          onChange={(value) => set({ sort: value === defaultSort ? '' : value })}
          className="max-sm:grow"
        />
      </div>
      {compared.matching === 0 ? (
        <NoItems parameters={parameters} />
      ) : (
        <ItemTable {...{ compared, start, filter, parameters }} />
      )}
    </Panel>
  );
}

/** The tabs with the number of items that match the search. */
const tabs = ({ found, changed, regressed, improved }: ComparedRuns) =>
  [
    { value: 'all', name: `All ${formatCount(found)}` },
    { value: 'changed', name: `Changed ${formatCount(changed)}` },
    { value: 'regressed', name: `Regressed ${formatCount(regressed)}` },
    { value: 'improved', name: `Improved ${formatCount(improved)}` },
  ] as const;

const EMPTY_TITLES: Record<Only, string> = {
  all: 'No items match',
  changed: 'No items changed',
  regressed: 'No regressions',
  improved: 'No improvements',
};

function NoItems({ parameters: { only, search, evaluator, set } }: { parameters: CompareParameters }) {
  const isFiltered = search !== '' || evaluator !== '' || only !== 'all';
  return (
    <EmptyState title={search === '' ? EMPTY_TITLES[only] : `${EMPTY_TITLES[only]} for “${search}”`}>
      {isFiltered && (
        <button
          type="button"
          className="text-accent underline"
          onClick={() => set({ only: '', search: '', evaluator: '' })}
        >
          Show all items
        </button>
      )}
    </EmptyState>
  );
}
