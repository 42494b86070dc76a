// The first page: the runs that there are, and those that go on.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useLive } from '../../api/events';
import { runPagesQuery } from '../../api/queries';
import type { Runs } from '../../api/types';
import { Problem } from '../../components/problem';
import { Skeleton } from '../../components/skeleton';
import { useTitle } from '../../lib/use-title';
import { CompareBar } from './compare-bar';
import { Found } from './found';
import { RunList } from './list';
import { Live } from './live';
import { NoMatches, NoRuns } from './none';
import { Skipped } from './skipped';
import { Toolbar } from './toolbar';
import { useFilters } from './use-filters';
import { usePicks } from './use-picks';

export function Component() {
  useTitle('Runs');
  const filters = useFilters();
  const answer = useInfiniteQuery(runPagesQuery(filters.asked));
  const runs = useMemo(() => answer.data?.pages.flatMap((page) => page.runs) ?? [], [answer.data]);
  const picks = usePicks(runs);
  // All pages tell the same of the whole; the last one is the newest.
  const known = answer.data?.pages.at(-1);

  const { hasNextPage, isFetching, isError, fetchNextPage } = answer;
  const more = useCallback(() => void fetchNextPage(), [fetchNextPage]);

  return (
    <div className="flex flex-col gap-3">
      <h1 className="sr-only">Runs</h1>
      <Live listed={known?.live ?? []} />
      {known?.known !== 0 && <Toolbar filters={filters} known={known} />}
      {known && <Skipped files={known.skipped} />}
      {answer.isPending && <Skeleton label="Loading runs" rows={10} className="h-14" />}
      {isError && (
        <Problem
          title="The runs could not be loaded"
          error={answer.error}
          onRetry={() => void answer.refetch()}
        />
      )}
      {known && known.known > 0 && <Found filters={filters} matching={known.matching} known={known.known} />}
      {known && runs.length > 0 && (
        <RunList
          runs={runs}
          matching={known.matching}
          filters={filters}
          picks={picks}
          onEnd={hasNextPage && !isFetching && !isError ? more : undefined}
          isOld={answer.isPlaceholderData}
          isLoadingMore={answer.isFetchingNextPage}
        />
      )}
      {known && runs.length === 0 && <Nothing known={known} onClear={filters.clear} />}
      <CompareBar picks={picks} />
    </div>
  );
}

function Nothing({ known, onClear }: { known: Runs; onClear: () => void }) {
  const live = useLive();
  if (known.known > 0) return <NoMatches onClear={onClear} />;
  return <NoRuns isRunning={live.runs.some((run) => run.state === 'running')} />;
}
