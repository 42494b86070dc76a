// The experiments, with their latest runs; runs in progress are on top.
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { StartExperiment } from '../../actions/start-experiment';
import { useLive } from '../../api/events';
import { experimentsQuery, runsQuery } from '../../api/queries';
import { Button } from '../../components/button';
import { EmptyState } from '../../components/empty-state';
import { ErrorMessage } from '../../components/error-message';
import { SearchField } from '../../components/field';
import { Skeleton } from '../../components/skeleton';
import { SortFields } from '../../components/sort-fields';
import { formatCount, pluralize } from '../../lib/format';
import { useMediaQuery } from '../../lib/use-media-query';
import { useTitle } from '../../lib/use-title';
import { NoRuns } from '../runs/empty';
import { SkippedFiles } from '../runs/skipped';
import { UnfinishedRuns } from '../runs/unfinished-runs';
import { ExperimentCards } from './cards';
import { ExperimentTable } from './table';
import { SORTS, type SortKey, useOrder } from './use-order';

const SORT_OPTIONS = (Object.keys(SORTS) as SortKey[]).map((value) => ({ value, name: SORTS[value].name }));

export function Experiments() {
  useTitle('Experiments');
  const query = useQuery(experimentsQuery());
  // Has the unfinished runs until the first event, and the unreadable files.
  const known = useQuery(runsQuery({ limit: 1 })).data;
  const live = useLive();
  const order = useOrder();
  const { search, set, sorted } = order;
  const isNarrow = useMediaQuery('(max-width: 1279px)');
  const onSearch = useCallback((text: string) => set({ search: text }), [set]);
  const all = query.data?.experiments ?? [];
  const shown = useMemo(() => sorted(query.data?.experiments ?? []), [query.data, sorted]);
  const List = isNarrow ? ExperimentCards : ExperimentTable;
  return (
    <div className="flex flex-col gap-3" aria-busy={query.isPending}>
      <h1 className="sr-only">Experiments</h1>
      <UnfinishedRuns listed={known?.live ?? []} />
      {known && <SkippedFiles files={known.skipped} />}
      {all.length > 0 && (
        <search className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <SearchField
            label="Search experiments"
            value={search}
            onChange={onSearch}
            className="min-w-48 grow md:max-w-72"
          />
          {isNarrow && (
            <SortFields
              sort={order.sort}
              order={order.order}
              options={SORT_OPTIONS}
              onSort={order.sortBy}
              onReverse={() => order.sortBy(order.sort)}
            />
          )}
          <p role="status" className="text-muted tabular-nums">
            {search === ''
              ? pluralize(all.length, 'experiment')
              : `${formatCount(shown.length)} of ${pluralize(all.length, 'experiment')}`}
          </p>
          <div className="ml-auto">
            <StartExperiment />
          </div>
        </search>
      )}
      {query.isPending && <Skeleton label="Loading experiments" rows={8} className="h-20" />}
      {query.isError && (
        <ErrorMessage
          title="Failed to load the experiments"
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      )}
      {shown.length > 0 && <List experiments={shown} order={order} />}
      {query.isSuccess && all.length === 0 && (
        <NoRuns isRunning={live.runs.some((run) => run.state === 'running')} />
      )}
      {all.length > 0 && shown.length === 0 && (
        <EmptyState title="No experiments match this search">
          <Button onClick={() => set({ search: '' })}>Clear the search</Button>
        </EmptyState>
      )}
    </div>
  );
}
