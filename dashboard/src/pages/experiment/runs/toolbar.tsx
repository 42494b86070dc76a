// Search, filters and the reference of the changes of an experiment's runs.
import { useCallback, useMemo } from 'react';
import type { RunRow } from '../../../api/types';
import { SearchField } from '../../../components/field';
import { SegmentedControl } from '../../../components/segmented-control';
import { Select } from '../../../components/select';
import { SortFields } from '../../../components/sort-fields';
import { formatCount, pluralize } from '../../../lib/format';
import { escapeHidden } from '../../../lib/texts';
import { VERDICTS } from '../../runs/use-filters';
import type { RunColumn } from './columns';
import type { Reference, RunOrder } from './use-run-order';

interface ToolbarProps {
  runs: RunRow[];
  /** The number of matching runs. */
  shown: number;
  columns: RunColumn[];
  order: RunOrder;
  isNarrow: boolean;
}

const REFERENCES = [
  { value: 'previous', name: 'Change vs. previous run' },
  { value: 'baseline', name: 'vs. baseline' },
] as const;

export function Toolbar({ runs, shown, columns, order, isNarrow }: ToolbarProps) {
  const { search, verdict, tag, set } = order;
  const tags = useMemo(() => [...new Set(runs.flatMap((run) => run.tags))].sort(), [runs]);
  const onSearch = useCallback((text: string) => set({ search: text }), [set]);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <SearchField
        label="Search runs, tags and commits"
        value={search}
        onChange={onSearch}
        className="min-w-48 grow md:max-w-72"
      />
      <Select<string>
        label="Verdict"
        value={verdict}
        options={[
          { value: '', name: 'All verdicts' },
          ...Object.entries(VERDICTS).map(([value, name]) => ({ value, name })),
        ]}
        onChange={(verdict) => set({ verdict })}
        className="grow md:grow-0"
      />
      {(tags.length > 0 || tag !== '') && (
        <Select
          label="Tag"
          value={tag}
          options={[
            { value: '', name: 'All tags' },
            ...(tags.includes(tag) || tag === '' ? tags : [tag, ...tags]).map((name) => ({
              value: name,
              name: escapeHidden(name),
            })),
          ]}
          onChange={(tag) => set({ tag })}
          className="min-w-0 grow md:max-w-44 md:grow-0"
        />
      )}
      {isNarrow ? (
        <SortFields
          sort={order.sort}
          order={order.order}
          options={columns
            .filter(({ value }) => value !== undefined)
            .map(({ key, name }) => ({
              value: key,
              name: key === 'started' ? 'Started' : escapeHidden(name),
            }))}
          onSort={order.sortBy}
          onReverse={() => order.sortBy(order.sort)}
        />
      ) : (
        order.canUseBaseline && (
          <SegmentedControl<Reference>
            label="Change against"
            value={order.reference}
            options={REFERENCES}
            onChange={(reference) => set({ change: reference === 'previous' ? undefined : reference })}
          />
        )
      )}
      <p role="status" className="ml-auto text-muted tabular-nums">
        {shown === runs.length ? '' : `${formatCount(shown)} of ${pluralize(runs.length, 'run')}`}
      </p>
    </search>
  );
}
