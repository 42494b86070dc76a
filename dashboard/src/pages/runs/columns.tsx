// The columns of the runs table.
import { createColumnHelper, metaHelper, tableFeatures } from '@tanstack/react-table';
import type { RunRow } from '../../api/types';
import { DateTime } from '../../components/time';
import { formatCount, formatDuration } from '../../lib/format';
import { Commit, Errors, Origin, Replayed, RunLink, Tags, TotalCost, VerdictCell } from './cells';
import { Scores } from './scores';
import type { Sort } from './use-filters';

interface ColumnMeta {
  /** The server's sort key. */
  sort?: Sort;
  /** The classes for its width and for the window widths that hide it. */
  width: string;
  /** Numbers are right-aligned. */
  isNumber?: boolean;
}

export const features = tableFeatures({ columnMeta: metaHelper<ColumnMeta>() });

const column = createColumnHelper<typeof features, RunRow>();

export const columns = column.columns([
  column.display({
    id: 'experiment',
    header: 'Experiment',
    cell: ({ row: { original: run } }) => (
      <span className="flex min-w-0 flex-col gap-0.5">
        <RunLink run={run} />
        <span className="flex min-w-0 items-center gap-2 overflow-hidden">
          <span className="shrink-0 font-mono text-muted text-xs">{run.id}</span>
          <Origin run={run} />
          <Replayed run={run} />
          <Tags tags={run.tags} />
        </span>
      </span>
    ),
    meta: { sort: 'name', width: '' },
  }),
  column.display({
    id: 'verdict',
    header: 'Verdict',
    cell: ({ row }) => <VerdictCell run={row.original} />,
    meta: { sort: 'verdict', width: 'w-27' },
  }),
  column.display({
    id: 'scores',
    header: 'Scores',
    cell: ({ row }) => <Scores run={row.original} />,
    meta: { sort: 'score', width: 'w-40 xl:w-67 min-[87.5rem]:w-93' },
  }),
  column.accessor('totalItems', {
    header: 'Items',
    cell: ({ getValue }) => formatCount(getValue()),
    meta: { sort: 'items', width: 'w-19', isNumber: true },
  }),
  column.display({
    id: 'errors',
    header: 'Errors',
    cell: ({ row }) => <Errors run={row.original} />,
    meta: { sort: 'errors', width: 'w-19', isNumber: true },
  }),
  column.accessor('durationMs', {
    header: 'Duration',
    cell: ({ getValue }) => formatDuration(getValue()),
    meta: { sort: 'duration', width: 'w-23 max-lg:hidden', isNumber: true },
  }),
  column.display({
    id: 'cost',
    header: 'Total cost',
    cell: ({ row }) => <TotalCost run={row.original} />,
    meta: { sort: 'cost', width: 'w-28 max-lg:hidden', isNumber: true },
  }),
  column.display({
    id: 'commit',
    header: 'Commit',
    cell: ({ row }) => <Commit run={row.original} />,
    meta: { width: 'w-38 max-[87.5rem]:hidden' },
  }),
  column.accessor('timestamp', {
    header: 'Started',
    cell: ({ getValue }) => <DateTime timestamp={getValue()} />,
    meta: { sort: 'timestamp', width: 'w-41', isNumber: true },
  }),
]);
