// The page of a run: the verdict, the key figures, and the items with the open one beside them.
import { Collapsible } from '@base-ui/react/collapsible';
import { usePrefetchQuery } from '@tanstack/react-query';
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import { useCallback } from 'react';
import { Link, useParams } from 'react-router';
import { ApiError } from '../../api/client';
import { useOverview } from '../../api/events';
import { itemsQuery } from '../../api/queries';
import type { Overview } from '../../api/types';
import { buttonLook } from '../../components/button';
import { EmptyState } from '../../components/empty-state';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { Text } from '../../components/text';
import { escapeHidden } from '../../lib/texts';
import { useIsWide } from '../../lib/use-media-query';
import { useTitle } from '../../lib/use-title';
import { useUrlParameters } from '../../lib/use-url-parameters';
import { ComparisonHead } from './compare';
import { Details } from './details';
import { Items } from './items';
import {
  type ItemState,
  isRangeShown,
  parseFilter,
  type ScoreRange,
  stateFilter,
  toggleRange,
} from './items/filter';
import { RunHead } from './run-head';
import { Strip } from './strip';
import { Unfinished } from './unfinished';

export function Component() {
  const { id = '' } = useParams();
  const { search } = useUrlParameters();
  const { data, error, refetch } = useOverview(id);
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
  const { get, set, search } = useUrlParameters();
  const filter = parseFilter(search);
  const isWide = useIsWide();
  const showState = useCallback((state: ItemState) => set(stateFilter(state)), [set]);
  const isOpen = get('details') === 'open';
  // In a narrow window, the open item takes the place of everything else.
  const isCovered = !isWide && get('item') !== '';
  return (
    <Collapsible.Root
      open={isOpen}
      onOpenChange={(open) => set({ details: open ? 'open' : undefined })}
      className="flex min-h-0 grow flex-col"
    >
      <div className={clsx('flex min-h-0 shrink-0 flex-col', isCovered && 'hidden', isOpen && 'max-h-[70%]')}>
        <RunHead overview={overview} />
        <Unfinished overview={overview} />
        <Strip overview={overview} onState={showState}>
          <Collapsible.Trigger className="group flex h-9 items-center gap-1.5 rounded-md px-2 font-medium text-muted hover:bg-sunken hover:text-text">
            <ChevronRight
              aria-hidden="true"
              className="size-4 transition-transform group-data-panel-open:rotate-90"
            />
            Details
          </Collapsible.Trigger>
        </Strip>
        <ComparisonHead overview={overview} />
        <Details
          overview={overview}
          onState={showState}
          onRange={(evaluator: string, range: ScoreRange) => set(toggleRange(filter, evaluator, range))}
          isShown={(evaluator, range) => isRangeShown(filter, evaluator, range)}
        />
      </div>
      <Items overview={overview} />
    </Collapsible.Root>
  );
}

function RunNotFound({ id }: { id: string }) {
  return (
    <EmptyState title="Run not found" isPage>
      <p className="max-w-xl [overflow-wrap:anywhere]">
        No run has the ID{' '}
        <strong>
          <Text>{id}</Text>
        </strong>
        . It may have been deleted, or the link is incomplete.
      </p>
      <Link to="/" className={buttonLook()}>
        Show the experiments
      </Link>
    </EmptyState>
  );
}

function LoadingRun() {
  return (
    <div className="flex flex-col gap-4 p-4">
      <Skeleton label="Loading the run" className="h-16" />
      <Skeleton label="Loading key figures" className="h-16" />
      <Skeleton label="Loading items" className="h-96" />
    </div>
  );
}
