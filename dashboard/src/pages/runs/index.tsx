// The first page: the runs that there are, and those that go on.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useLive } from '../../api/events';
import { runPagesQuery } from '../../api/queries';
import type { Runs } from '../../api/types';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { useTitle } from '../../lib/use-title';
import { CompareBar } from './compare-bar';
import { NoMatches, NoRuns } from './empty';
import { FilterSummary } from './filter-summary';
import { RunList } from './list';
import { SkippedFiles } from './skipped';
import { Toolbar } from './toolbar';
import { UnfinishedRuns } from './unfinished-runs';
import { useFilters } from './use-filters';
import { useSelectedRuns } from './use-selected-runs';

export function Component() {
  useTitle('Runs');
  const filters = useFilters();
  const answer = useInfiniteQuery(runPagesQuery(filters.apiQuery));
  const runs = useMemo(() => answer.data?.pages.flatMap((page) => page.runs) ?? [], [answer.data]);
  const picks = useSelectedRuns(runs);
  // All pages tell the same of the whole; the last one is the newest.
  const known = answer.data?.pages.at(-1);

  const { hasNextPage, isFetching, isError, fetchNextPage } = answer;
  const more = useCallback(() => void fetchNextPage(), [fetchNextPage]);

  return (
    <div className="flex flex-col gap-3">
      <h1 className="sr-only">Runs</h1>
      <UnfinishedRuns listed={known?.live ?? []} />
      {known?.known !== 0 && <Toolbar filters={filters} known={known} />}
      {known && <SkippedFiles files={known.skipped} />}
      {answer.isPending && <Skeleton label="Loading runs" rows={10} className="h-14" />}
      {isError && (
        <ErrorMessage
          title="The runs could not be loaded"
          error={answer.error}
          onRetry={() => void answer.refetch()}
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
          selection={picks}
          onEnd={hasNextPage && !isFetching && !isError ? more : undefined}
          isStale={answer.isPlaceholderData}
          isLoadingMore={answer.isFetchingNextPage}
        />
      )}
      {known && runs.length === 0 && <NoResults known={known} onClear={filters.clear} />}
      <CompareBar selection={picks} />
    </div>
  );
}

function NoResults({ known, onClear }: { known: Runs; onClear: () => void }) {
  const live = useLive();
  if (known.known > 0) return <NoMatches onClear={onClear} />;
  return <NoRuns isRunning={live.runs.some((run) => run.state === 'running')} />;
}
