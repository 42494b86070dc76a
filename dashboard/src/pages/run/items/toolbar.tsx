// The controls above the items: search, states, filters, groups, columns, row height and views.
import clsx from 'clsx';
import { Rows2, Rows3, Rows4, X } from 'lucide-react';
import { type ReactNode, useCallback } from 'react';
import type { ItemsFilter } from '../../../api/queries';
import type { ItemField, Overview, StateCounts } from '../../../api/types';
import { Button } from '../../../components/button';
import { SearchField } from '../../../components/field';
import { SegmentedControl } from '../../../components/segmented-control';
import { Select } from '../../../components/select';
import { formatCount, pluralize } from '../../../lib/format';
import { escapeHidden } from '../../../lib/texts';
import type { UrlChanges } from '../../../lib/use-url-parameters';
import { ColumnPicker } from './column-picker';
import type { ItemColumn } from './columns';
import { AddCondition, ConditionList } from './conditions';
import { type ItemState, isFiltered, STATE_LABELS, stateNames, UNFILTERED } from './filter';
import { columnsText, type RowHeight, USUAL_COLUMNS } from './layout';
import { ViewMenu } from './view-menu';

interface ToolbarProps {
  overview: Overview;
  filter: ItemsFilter;
  /** The number of items that the filters leave; undefined while it loads. */
  matching: number | undefined;
  columns: ItemColumn[];
  shown: string[];
  rowHeight: RowHeight;
  /** What conditions and groups can name. */
  fields: ItemField[];
  /** The column of the condition that is being added. */
  condition: string | undefined;
  onCondition: (column: string | undefined) => void;
  onChange: (changes: UrlChanges) => void;
  /** Further filters. */
  children?: ReactNode;
}

const HEIGHTS = [
  { value: 'compact', name: <RowIcon icon={Rows4} label="Compact rows" /> },
  { value: 'normal', name: <RowIcon icon={Rows3} label="Normal rows" /> },
  { value: 'tall', name: <RowIcon icon={Rows2} label="Tall rows" /> },
] as const;

function RowIcon({ icon: Icon, label }: { icon: typeof Rows2; label: string }) {
  return (
    <span title={label} className="flex h-7 items-center">
      <Icon className="size-4" aria-hidden="true" />
      <span className="sr-only">{label}</span>
    </span>
  );
}

export function Toolbar(props: ToolbarProps) {
  const { overview, filter, matching, columns, shown, rowHeight, fields, condition, onCondition, onChange } =
    props;
  const search = useCallback((text: string) => onChange({ search: text }), [onChange]);
  const where = filter.where ?? [];
  const groups = [
    { value: '', name: 'No groups' },
    ...fields.map(({ name, label }) => ({ value: name, name: `By ${escapeHidden(label)}` })),
  ];
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SearchField
        label="Search items"
        value={filter.search ?? ''}
        onChange={search}
        className="w-full sm:w-52"
      />
      {/* One line that scrolls in narrow windows, so that the items begin high up. */}
      <div className="relative flex max-w-full items-center gap-2 overflow-x-auto max-sm:[&>*]:shrink-0 sm:contents">
        <States overview={overview} filter={filter} onChange={onChange} />
        {props.children}
        <ConditionList
          where={where}
          fields={fields}
          onRemove={(removed) => onChange({ where: where.filter((condition) => condition !== removed) })}
        />
        {isFiltered(filter) && (
          <span className="flex items-center">
            {matching !== undefined && (
              <span aria-hidden="true" className="px-1 text-muted text-xs whitespace-nowrap tabular-nums">
                {pluralize(matching, 'item')}
              </span>
            )}
            <Button look="bare" className="px-2" onClick={() => onChange(UNFILTERED)}>
              <X aria-hidden="true" />
              Clear
            </Button>
          </span>
        )}
        <div className="flex items-center gap-2 sm:ml-auto sm:max-w-full sm:flex-wrap [&>*]:shrink-0">
          <AddCondition
            fields={fields}
            column={condition}
            onColumn={onCondition}
            onAdd={(added) => onChange({ where: [...new Set([...where, added])] })}
          />
          <Select
            label="Group items"
            value={filter.group ?? ''}
            options={groups}
            onChange={(group) => onChange({ group })}
            className="max-w-40"
          />
          <ColumnPicker
            columns={columns}
            shown={shown}
            onChange={(ids) => onChange({ columns: columnsText(ids) })}
            onReset={() => onChange(USUAL_COLUMNS)}
          />
          <SegmentedControl
            label="Row height"
            value={rowHeight}
            options={HEIGHTS}
            onChange={(rows) => onChange({ rows: rows === 'normal' ? undefined : rows })}
          />
          <ViewMenu experiment={overview.run.name} />
        </div>
      </div>
    </div>
  );
}

type StatesProps = Pick<ToolbarProps, 'overview' | 'filter' | 'onChange'>;

function States({ overview: { states, finishedItems }, filter, onChange }: StatesProps) {
  return (
    <fieldset className="relative flex min-w-0 gap-1 sm:max-w-full sm:flex-wrap">
      <legend className="sr-only">State</legend>
      <Chip
        name="All"
        items={finishedItems}
        isOn={filter.state === undefined}
        onPress={() => onChange({ state: undefined })}
      />
      {stateNames
        .filter((state) => (states[state] > 0 && !isRepeated(state, states)) || state === filter.state)
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
  );
}

/** Whether all failed items are in one of the states that follow. */
const isRepeated = (state: ItemState, states: StateCounts) =>
  state === 'failing' &&
  [states.low, states.error, states.timeout, states.evalError].includes(states.failing);

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
