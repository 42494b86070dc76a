// All runs of all experiments, including unfinished ones.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useLive } from '../../api/events';
import { runPagesQuery } from '../../api/queries';
import type { Runs } from '../../api/types';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { useTitle } from '../../lib/use-title';
import { NoMatches, NoRuns } from './empty';
import { FilterSummary } from './filter-summary';
import { RunList } from './list';
import { SelectionBar } from './selection-bar';
import { SkippedFiles } from './skipped';
import { Toolbar } from './toolbar';
import { UnfinishedRuns } from './unfinished-runs';
import { useFilters } from './use-filters';
import { useSelectedRuns } from './use-selected-runs';

export function AllRuns() {
  useTitle('All runs');
  const filters = useFilters();
  const query = useInfiniteQuery(runPagesQuery(filters.apiQuery));
  const runs = useMemo(() => query.data?.pages.flatMap((page) => page.runs) ?? [], [query.data]);
  const selection = useSelectedRuns(runs);
  // Totals are in every page; the last one has the latest.
  const known = query.data?.pages.at(-1);

  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  const loadMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);

  return (
    <div className="flex flex-col gap-3">
      <h1 className="sr-only">All runs</h1>
      <UnfinishedRuns listed={known?.live ?? []} />
      {known?.known !== 0 && <Toolbar filters={filters} known={known} />}
      {known && <SkippedFiles files={known.skipped} />}
      {query.isPending && <Skeleton label="Loading runs" rows={10} className="h-14" />}
      {isError && (
        <ErrorMessage
          title="Failed to load the runs"
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      )}
      {known && known.known > 0 && (
        <FilterSummary filters={filters} matching={known.matching} known={known.known} />
      )}
      {known && runs.length > 0 && (
        <RunList
          runs={runs}
          matching={known.matching}
          filters={filters}
          selection={selection}
          onEnd={hasNextPage && !isFetching && !isError ? loadMore : undefined}
          isStale={query.isPlaceholderData}
          isLoadingMore={query.isFetchingNextPage}
        />
      )}
      {known && runs.length === 0 && <NoResults known={known} onClear={filters.clear} />}
      <SelectionBar selection={selection} />
    </div>
  );
}

function NoResults({ known, onClear }: { known: Runs; onClear: () => void }) {
  const live = useLive();
  if (known.known > 0) return <NoMatches onClear={onClear} />;
  return <NoRuns isRunning={live.runs.some((run) => run.state === 'running')} />;
}
