// One run: its verdict, its figures, and its items.
import { usePrefetchQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { Link, useLocation, useParams } from 'react-router';
import { ApiError } from '../../api/client';
import { itemsQuery, overviewQuery } from '../../api/queries';
import type { Overview } from '../../api/types';
import { buttonLook } from '../../components/button';
import { Empty } from '../../components/empty';
import { Problem } from '../../components/problem';
import { Skeleton } from '../../components/skeleton';
import { plain } from '../../lib/texts';
import { useParameters } from '../../lib/use-parameters';
import { useTitle } from '../../lib/use-title';
import { Spent } from './amounts';
import { Baseline } from './baseline';
import { ChartPanel } from './chart-panel';
import { Figures } from './figures';
import { Head } from './head';
import type { Range } from './histogram';
import { Items } from './items';
import { choiceOf, inRange } from './items/choice';
import { Scores } from './scores';
import { Thresholds } from './thresholds';
import { Unfinished } from './unfinished';

export function Component() {
  const { id = '' } = useParams();
  const { search } = useParameters();
  const { data, error, refetch } = useQuery(overviewQuery(id));
  // The items need not wait for what is told of all of them.
  usePrefetchQuery(itemsQuery(id, choiceOf(search), 0));
  useTitle(data === undefined ? `Run ${id}` : plain(data.run.name));
  if (error instanceof ApiError && error.status === 404) return <NoRun message={error.message} />;
  if (error !== null && data === undefined) {
    return <Problem title="The run could not be loaded" error={error} onRetry={refetch} />;
  }
  if (data === undefined) return <Waiting />;
  // What is open on the page belongs to one run.
  return <Run key={data.run.id} overview={data} />;
}

function Run({ overview }: { overview: Overview }) {
  const { set } = useParameters();
  const items = useRef<HTMLHeadingElement>(null);
  const itemAt = useItemLink();
  const showRange = useCallback(
    (evaluator: string, range: Range) => {
      set(inRange(evaluator, range));
      items.current?.scrollIntoView();
    },
    [set],
  );
  const { run } = overview;
  return (
    <div className="flex flex-col gap-4">
      <Head overview={overview} />
      <Unfinished overview={overview} />
      <Figures overview={overview} />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(22rem,26rem)]">
        <Scores overview={overview} onRange={showRange} />
        <Thresholds run={run} />
      </div>
      <div className="grid gap-4 md:grid-cols-2 lg:grid-flow-col lg:auto-cols-fr lg:grid-cols-none">
        <ChartPanel run={run} />
        <Spent overview={overview} />
        {run.baseline && <Baseline comparison={run.baseline} itemAt={itemAt} />}
      </div>
      <Items overview={overview} heading={items} />
    </div>
  );
}

/** The address of an item of this run, without what is filtered. */
function useItemLink() {
  const { pathname } = useLocation();
  return (key: string) => `${pathname}?${new URLSearchParams({ item: key })}`;
}

function NoRun({ message }: { message: string }) {
  return (
    <Empty title="This run is not there">
      <p className="max-w-xl [overflow-wrap:anywhere]">{message}</p>
      <p>It may have been removed, or its id is another. These are the runs that there are:</p>
      <Link to="/" className={buttonLook()}>
        See all runs
      </Link>
    </Empty>
  );
}

function Waiting() {
  return (
    <div className="flex flex-col gap-4">
      <Skeleton label="Loading the run" className="h-16" />
      <Skeleton label="Loading its figures" className="h-20" />
      <Skeleton label="Loading its scores" className="h-64" />
    </div>
  );
}
