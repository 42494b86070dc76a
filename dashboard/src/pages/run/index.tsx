// The page of a run: verdict, metrics and items.
import { usePrefetchQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { Link, useLocation, useParams } from 'react-router';
import { ApiError } from '../../api/client';
import { itemsQuery, overviewQuery } from '../../api/queries';
import type { Overview } from '../../api/types';
import { buttonLook } from '../../components/button';
import { EmptyState } from '../../components/empty-state';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { Text } from '../../components/text';
import { escapeHidden } from '../../lib/texts';
import { useTitle } from '../../lib/use-title';
import { useUrlParameters } from '../../lib/use-url-parameters';
import { BaselineChange } from './baseline';
import { ChartPanel } from './chart-panel';
import { CustomMetrics } from './custom-metrics';
import { Groups } from './groups';
import type { ScoreRange } from './histogram';
import { Items } from './items';
import { parseFilter, rangeFilter, stateFilter } from './items/filter';
import { Metrics } from './metrics';
import { RunRescored } from './rescored';
import { RunRetries } from './retries';
import { RunHeader } from './run-header';
import { Scores } from './scores';
import { Thresholds } from './thresholds';
import { RunTraffic } from './traffic';
import { Unfinished } from './unfinished';
import { Usage } from './usage';
import { RunVariant } from './variant';

export function Component() {
  const { id = '' } = useParams();
  const { search } = useUrlParameters();
  const { data, error, refetch } = useQuery(overviewQuery(id));
  // Load the items in parallel with the overview.
  usePrefetchQuery(itemsQuery(id, parseFilter(search), 0));
  useTitle(data === undefined ? `Run ${id}` : escapeHidden(data.run.name));
  if (error instanceof ApiError && error.status === 404) return <RunNotFound id={id} />;
  if (error !== null && data === undefined) {
    return <ErrorMessage title="Failed to load the run" error={error} onRetry={refetch} />;
  }
  if (data === undefined) return <LoadingRun />;
  // Reset the page's state for another run.
  return <Run key={data.run.id} overview={data} />;
}

function Run({ overview }: { overview: Overview }) {
  const { set } = useUrlParameters();
  const items = useRef<HTMLHeadingElement>(null);
  const itemAt = useItemLink();
  const showItems = useCallback(
    (filter: Record<string, string | undefined>) => {
      set(filter);
      items.current?.scrollIntoView();
    },
    [set],
  );
  const showRange = useCallback(
    (evaluator: string, range: ScoreRange) => showItems(rangeFilter(evaluator, range)),
    [showItems],
  );
  const { run } = overview;
  return (
    <div className="flex flex-col gap-4">
      <RunHeader overview={overview} />
      <Unfinished overview={overview} />
      <RunVariant overview={overview} />
      <RunRescored run={run} />
      <Metrics overview={overview} />
      <RunRetries run={run} onRetried={() => showItems(stateFilter('retried'))} />
      <RunTraffic run={run} onDiverged={() => showItems(stateFilter('diverged'))} />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(22rem,26rem)]">
        <Scores overview={overview} onRange={showRange} />
        <Thresholds run={run} />
      </div>
      <Groups run={run} />
      <CustomMetrics run={run} />
      <div className="grid gap-4 md:grid-cols-2 lg:grid-flow-col lg:auto-cols-fr lg:grid-cols-none">
        <ChartPanel run={run} />
        <Usage overview={overview} />
        {run.baseline && <BaselineChange comparison={run.baseline} itemAt={itemAt} />}
      </div>
      <Items overview={overview} heading={items} />
    </div>
  );
}

/** The URL of an item of this run, without filters. */
function useItemLink() {
  const { pathname } = useLocation();
  return (key: string) => `${pathname}?${new URLSearchParams({ item: key })}`;
}

function RunNotFound({ id }: { id: string }) {
  return (
    <EmptyState title="Run not found" isPage>
      <p className="max-w-xl [overflow-wrap:anywhere]">
        No run has the ID <Text>{id}</Text>. It may have been deleted, or the link is incomplete.
      </p>
      <Link to="/" className={buttonLook()}>
        Show the experiments
      </Link>
    </EmptyState>
  );
}

function LoadingRun() {
  return (
    <div className="flex flex-col gap-4">
      <Skeleton label="Loading the run" className="h-16" />
      <Skeleton label="Loading metrics" className="h-20" />
      <Skeleton label="Loading scores" className="h-64" />
    </div>
  );
}
