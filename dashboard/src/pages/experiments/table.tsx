// The experiments as a virtualized table.
import clsx from 'clsx';
import { type ReactNode, useMemo } from 'react';
import { useNavigate } from 'react-router';
import type { ExperimentRow } from '../../api/types';
import { ariaSort, SortButton } from '../../components/sort-button';
import { Spacer } from '../../components/spacer';
import { experimentUrl } from '../../lib/addresses';
import { formatDuration, pluralize } from '../../lib/format';
import { openRow } from '../../lib/open-row';
import { useRowKeys } from '../../lib/use-row-keys';
import { useVirtualRows } from '../../lib/use-virtual-rows';
import { ItemCounts, VariantLink } from '../runs/cells';
import { Changes, Costs, ExperimentLink, LatestRun, RecentScores, RegressionsLink } from './cells';
import type { ExperimentOrder, SortKey } from './use-order';

/** The height of a row in pixels, including its border. */
const ROW_HEIGHT = 81;

/** The height of the sticky page and table headers in pixels. */
const HEADER_HEIGHT = 88;

export interface ListProps {
  experiments: ExperimentRow[];
  order: ExperimentOrder;
}

interface Column {
  name: string;
  sort?: SortKey;
  width: string;
  isNumber?: boolean;
  cell: (experiment: ExperimentRow) => ReactNode;
}

const COLUMNS: Column[] = [
  {
    name: 'Experiment',
    sort: 'name',
    width: '',
    cell: (experiment) => (
      <>
        <ExperimentLink experiment={experiment} />
        <span className="flex items-center gap-2 text-muted text-xs">
          {pluralize(experiment.runs, 'run')}
          <VariantLink run={experiment.latest} />
        </span>
      </>
    ),
  },
  {
    name: 'Latest run',
    sort: 'latest',
    width: 'w-64',
    cell: (experiment) => (
      <span className="flex flex-col items-start gap-1">
        <LatestRun experiment={experiment} />
        <RegressionsLink experiment={experiment} />
      </span>
    ),
  },
  {
    name: 'Latest scores',
    width: 'w-42',
    cell: (experiment) => <RecentScores experiment={experiment} width={128} />,
  },
  {
    name: 'Change vs. baseline',
    width: 'w-60',
    cell: (experiment) => <Changes experiment={experiment} />,
  },
  {
    name: 'At pass marks',
    sort: 'items',
    width: 'w-32',
    isNumber: true,
    cell: ({ latest }) => <ItemCounts run={latest} />,
  },
  {
    name: 'Costs',
    sort: 'cost',
    width: 'w-32',
    isNumber: true,
    cell: (experiment) => <Costs experiment={experiment} />,
  },
  {
    name: 'Mean latency',
    sort: 'latency',
    width: 'w-32',
    isNumber: true,
    cell: ({ latest }) => formatDuration(latest.avgLatencyMs),
  },
];

export function ExperimentTable({ experiments, order }: ListProps) {
  const navigate = useNavigate();
  const { list, items, before, after, scrollTo } = useVirtualRows<HTMLTableElement>({
    count: experiments.length,
    height: ROW_HEIGHT,
    headerHeight: HEADER_HEIGHT,
  });
  const names = useMemo(() => experiments.map(({ name }) => name), [experiments]);
  useRowKeys(names, scrollTo);
  return (
    <div className="rounded-lg border border-line bg-surface">
      <table
        ref={list}
        aria-label="Experiments"
        aria-rowcount={experiments.length + 1}
        className="w-full table-fixed"
      >
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map((column) => (
              <Head key={column.name} column={column} order={order} />
            ))}
          </tr>
        </thead>
        <Spacer height={before} />
        <tbody>
          {items.map(({ index }) => {
            const experiment = experiments[index];
            return (
              experiment && (
                <tr
                  key={experiment.name}
                  aria-rowindex={index + 2}
                  onClick={(event) => openRow(event, experimentUrl(experiment.name), navigate)}
                  className="h-[81px] cursor-pointer border-line border-t hover:bg-sunken/60 has-[[data-row]:focus-visible]:bg-accent-soft/60"
                >
                  {COLUMNS.map(({ name, cell, ...column }) => (
                    <td key={name} className={clsx('px-3 py-0 align-middle', cellClass(column))}>
                      {cell(experiment)}
                    </td>
                  ))}
                </tr>
              )
            );
          })}
        </tbody>
        <Spacer height={after} />
      </table>
    </div>
  );
}

const cellClass = ({ width, isNumber }: Pick<Column, 'width' | 'isNumber'>) =>
  clsx(width, isNumber ? 'text-right tabular-nums' : 'text-left');

function Head({ column, order }: { column: Column; order: ExperimentOrder }) {
  const { name, sort, isNumber } = column;
  const direction = sort !== undefined && sort === order.sort ? order.order : undefined;
  return (
    <th
      scope="col"
      aria-sort={ariaSort(direction)}
      className={clsx(
        'sticky top-13 z-10 h-9 whitespace-nowrap bg-surface px-3 font-medium text-muted text-xs shadow-[inset_0_-1px_var(--line)] first:rounded-tl-lg last:rounded-tr-lg',
        cellClass(column),
      )}
    >
      {sort === undefined ? (
        name
      ) : (
        <SortButton order={direction} isNumber={isNumber} onClick={() => order.sortBy(sort)}>
          {name}
        </SortButton>
      )}
    </th>
  );
}
