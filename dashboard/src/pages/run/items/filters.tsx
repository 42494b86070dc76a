// The item filters: search, state, evaluator and score range.

import clsx from 'clsx';
import { X } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import type { ItemsFilter } from '../../../api/queries';
import type { StateCounts } from '../../../api/types';
import { Button } from '../../../components/button';
import { SearchField } from '../../../components/field';
import { Select } from '../../../components/select';
import { formatCount } from '../../../lib/format';
import { escapeHidden } from '../../../lib/texts';
import { isFiltered, STATE_LABELS, stateNames, UNFILTERED } from './filter';

interface FiltersProps {
  filter: ItemsFilter;
  evaluators: string[];
  states: StateCounts;
  total: number;
  onChange: (changes: Record<string, string | undefined>) => void;
}

export function Filters({ filter, evaluators, states, total, onChange }: FiltersProps) {
  const search = useCallback((text: string) => onChange({ search: text }), [onChange]);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SearchField
        label="Search items"
        value={filter.search ?? ''}
        onChange={search}
        className="w-full sm:w-60"
      />
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">State</legend>
        <Chip
          name="All"
          items={total}
          isOn={filter.state === undefined}
          onPress={() => onChange({ state: undefined })}
        />
        {stateNames
          .filter((state) => states[state] > 0 || state === filter.state)
          .map((state) => (
            <Chip
              key={state}
              name={STATE_LABELS[state]}
              items={states[state]}
              isOn={state === filter.state}
              onPress={() => onChange({ state: state === filter.state ? undefined : state })}
            />
          ))}
      </fieldset>
      <div className="flex items-center gap-2 sm:ml-auto">
        <Select
          label="Evaluator"
          value={filter.evaluator ?? ''}
          options={[
            { value: '', name: 'Any evaluator' },
            ...evaluators.map((name) => ({ value: name, name: escapeHidden(name) })),
          ]}
          onChange={(evaluator) => onChange({ evaluator })}
          className="max-w-44"
        />
        <ScoreField
          label="Min score"
          empty="0"
          value={filter.minScore}
          onChange={(minScore) => onChange({ minScore })}
        />
        <span className="text-muted" aria-hidden="true">
          to
        </span>
        <ScoreField
          label="Max score"
          empty="1"
          value={filter.maxScore}
          onChange={(maxScore) => onChange({ maxScore })}
        />
        {isFiltered(filter) && (
          <Button look="bare" className="px-2" onClick={() => onChange(UNFILTERED)}>
            <X aria-hidden="true" />
            Clear
          </Button>
        )}
      </div>
    </div>
  );
}

interface ChipProps {
  name: string;
  items: number;
  isOn: boolean;
  onPress: () => void;
}

function Chip({ name, items, isOn, onPress }: ChipProps) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={onPress}
      className={clsx(
        'inline-flex h-8 items-center gap-1.5 rounded-full border px-3 text-xs whitespace-nowrap',
        isOn
          ? 'border-accent bg-accent-soft font-medium text-accent'
          : 'border-line bg-surface text-muted hover:bg-sunken',
      )}
    >
      {name}
      <span className="tabular-nums">{formatCount(items)}</span>
    </button>
  );
}

interface ScoreFieldProps {
  label: string;
  empty: string;
  value: number | undefined;
  onChange: (value: string) => void;
}

/** One end of the score range, applied on blur or Enter. */
function ScoreField({ label, empty, value, onChange }: ScoreFieldProps) {
  const shown = value === undefined ? '' : String(Number(value.toFixed(4)));
  const [typed, setTyped] = useState(shown);
  useEffect(() => setTyped(shown), [shown]);
  const commit = () => typed !== shown && onChange(typed);
  return (
    <label>
      <span className="sr-only">{label}</span>
      <input
        type="number"
        min={0}
        max={1}
        step="any"
        value={typed}
        placeholder={empty}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
        className="h-9 w-18 rounded-md border border-line bg-surface px-2 tabular-nums placeholder:text-muted"
      />
    </label>
  );
}
