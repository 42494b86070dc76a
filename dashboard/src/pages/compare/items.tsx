// The items of the runs, matched by their keys: which are shown, and the list of them.
import type { CompareChoice } from '../../api/queries';
import type { Compared } from '../../api/types';
import { Choice } from '../../components/choice';
import { Empty } from '../../components/empty';
import { SearchField, SelectField } from '../../components/field';
import { Panel } from '../../components/panel';
import { count, counted } from '../../lib/format';
import { type Chosen, type Only, SORTS } from './chosen';
import { ItemTable } from './item-table';
import type { useCompared } from './use-items';

export interface ItemsProps {
  compared: Compared;
  start: ReturnType<typeof useCompared>;
  choice: CompareChoice;
  chosen: Chosen;
}

export function Items({ compared, start, choice, chosen }: ItemsProps) {
  const { search, evaluator, sort, usualSort, only, set } = chosen;
  const isFiltered = search !== '' || only !== 'all';
  return (
    <Panel
      title="Items"
      actions={
        <p role="status" className="text-muted text-xs tabular-nums">
          {isFiltered
            ? `${count(compared.matching)} of ${counted(compared.total, 'item')}`
            : counted(compared.total, 'item')}
        </p>
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Choice
          label="Which items"
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
        <SelectField
          label="Changes of which evaluator"
          value={evaluator}
          onChange={(value) => set({ evaluator: value })}
          className="max-w-full max-sm:grow sm:max-w-56"
        >
          <option value="">Any evaluator</option>
          {Object.keys(compared.scoreDiffs).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Order of the items"
          value={sort}
          onChange={(value) => set({ sort: value === usualSort ? '' : value })}
          className="max-sm:grow"
        >
          {SORTS.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      {compared.matching === 0 ? (
        <NoItems chosen={chosen} />
      ) : (
        <ItemTable {...{ compared, start, choice, chosen }} />
      )}
    </Panel>
  );
}

/** The tabs, with how many of the items that the search finds each has. */
const tabs = ({ found, changed, regressed, improved }: Compared) =>
  [
    { value: 'all', name: `All ${count(found)}` },
    { value: 'changed', name: `Changed ${count(changed)}` },
    { value: 'regressed', name: `Regressed ${count(regressed)}` },
    { value: 'improved', name: `Improved ${count(improved)}` },
  ] as const;

const NONE: Record<Only, string> = {
  all: 'No item matches',
  changed: 'No item changed',
  regressed: 'No item became worse',
  improved: 'No item became better',
};

function NoItems({ chosen: { only, search, evaluator, set } }: { chosen: Chosen }) {
  const isNarrowed = search !== '' || evaluator !== '' || only !== 'all';
  return (
    <Empty title={search === '' ? NONE[only] : `${NONE[only]} with “${search}”`}>
      {isNarrowed && (
        <button
          type="button"
          className="text-accent underline"
          onClick={() => set({ only: '', search: '', evaluator: '' })}
        >
          Show all items
        </button>
      )}
    </Empty>
  );
}
