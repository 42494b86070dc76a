// The items of the runs side by side, with filters.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type MatrixFilter, matrixQuery } from '../../api/queries';
import type { Matrix as MatrixPage, Ranking } from '../../api/types';
import { EmptyState } from '../../components/empty-state';
import { ErrorMessage } from '../../components/error-message';
import { SearchField } from '../../components/field';
import { SegmentedControl } from '../../components/segmented-control';
import { Select } from '../../components/select';
import { Skeleton } from '../../components/skeleton';
import { formatCount, pluralize } from '../../lib/format';
import { useUrlParameters } from '../../lib/use-url-parameters';
import { MatrixTable } from './matrix-table';
import { INDEX, parseSort, sortOptions, sortParameters } from './sort';

interface MatrixProps {
  ranking: Ranking;
  filter: Pick<MatrixFilter, 'runs' | 'group'>;
  /** Empty for the mean over all evaluators. */
  evaluator: string;
}

const ONLY = ['all', 'disagreeing', 'failed'] as const;

export function Matrix({ ranking, filter: runs, evaluator }: MatrixProps) {
  const { get, set } = useUrlParameters();
  const only = ONLY.find((one) => one === get('only')) ?? 'all';
  const search = get('search');
  const ids = ranking.runs.map(({ run }) => run.id);
  const sort = parseSort(get('sort'), get('order'), ids);
  const filter: MatrixFilter = {
    ...runs,
    only,
    search,
    ...(sort.key === INDEX.key ? {} : { sort: sort.key, order: sort.order, evaluator }),
  };
  const start = useQuery({ ...matrixQuery(filter, 0), placeholderData: keepPreviousData });
  const matrix = start.data;
  return (
    <section aria-labelledby="matrix" className="flex grow flex-col gap-2">
      <h2 id="matrix" className="sr-only">
        Items
      </h2>
      <div className="flex flex-wrap items-center gap-2">
        <SearchField
          label="Search keys, inputs and outputs"
          value={search}
          onChange={(value) => set({ search: value })}
          className="min-w-56 grow sm:max-w-80"
        />
        <SegmentedControl
          label="Filter items"
          value={only}
          options={tabs(matrix)}
          onChange={(value) => set({ only: value === 'all' ? '' : value })}
        />
        <Select
          label="Sort items"
          value={`${sort.key} ${sort.order}`}
          options={sortOptions(ranking, sort)}
          onChange={(value) => set(sortParameters(value))}
          className="max-w-full sm:max-w-64"
        />
        {matrix !== undefined && (
          <p role="status" className="ml-auto text-muted text-xs tabular-nums">
            {matrix.matching === matrix.total
              ? pluralize(matrix.total, 'item')
              : `${formatCount(matrix.matching)} of ${pluralize(matrix.total, 'item')}`}
          </p>
        )}
      </div>
      {start.isPending && <Skeleton label="Loading items" rows={4} className="h-16" />}
      {start.isError && (
        <ErrorMessage title="Failed to load the items" error={start.error} onRetry={() => start.refetch()} />
      )}
      {matrix?.matching === 0 && (
        <EmptyState title="No items match">
          <button
            type="button"
            className="text-accent underline"
            onClick={() => set({ only: '', search: '' })}
          >
            Show all items
          </button>
        </EmptyState>
      )}
      {matrix !== undefined && matrix.matching > 0 && (
        <MatrixTable
          matrix={matrix}
          ranking={ranking}
          start={start}
          filter={filter}
          evaluator={evaluator}
          sort={sort}
          onSort={(key) => set(nextParameters(key))}
          open={get('item')}
          onToggle={(key) => set({ item: get('item') === key ? '' : key })}
        />
      )}
    </section>
  );

  /** Smallest first, then reversed, then dataset order. */
  function nextParameters(key: string) {
    if (sort.key !== key) return sortParameters(`${key} asc`);
    return sortParameters(sort.order === 'asc' ? `${key} desc` : '');
  }
}

/** The tabs with the number of items that match the search. */
function tabs(matrix: MatrixPage | undefined) {
  const count = (number: number | undefined) => (number === undefined ? '' : ` ${formatCount(number)}`);
  return [
    { value: 'all', name: `All${count(matrix?.found)}` },
    { value: 'disagreeing', name: `Runs disagree${count(matrix?.disagreeing)}` },
    { value: 'failed', name: `Failed${count(matrix?.failed)}` },
  ] as const;
}
