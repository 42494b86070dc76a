// The runs of an experiment over time, and one of their metrics against another.
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { trendsQuery } from '../../../api/queries';
import type { Runs, Trends as TrendsResponse } from '../../../api/types';
import { Button } from '../../../components/button';
import { CommandSnippet, EmptyState } from '../../../components/empty-state';
import { ErrorMessage } from '../../../components/error-message';
import { Skeleton } from '../../../components/skeleton';
import { runUrl } from '../../../lib/addresses';
import { Charts } from './charts';
import { Controls } from './controls';
import { type TrendsParameters, useTrendsParameters } from './parameters';
import { RunScatter } from './scatter-panel';
import { evaluatorNames, plotRuns, scoreSeries } from './series';

interface TrendsProps {
  experiment: string;
  tags: Runs['tags'];
}

export function Trends({ experiment, tags }: TrendsProps) {
  const parameters = useTrendsParameters();
  const { tag, since, limit } = parameters;
  const query = useQuery(trendsQuery({ experiment, tag, since, limit }));
  const points = query.data?.trends ?? [];
  return (
    <div className="flex flex-col gap-4" aria-busy={query.isPending}>
      <Controls tags={tags} evaluators={evaluatorNames(points)} parameters={parameters} />
      {query.isPending && <Skeleton label="Loading runs" className="h-96" />}
      {query.isError && (
        <ErrorMessage title="Failed to load the runs" error={query.error} onRetry={() => query.refetch()} />
      )}
      {query.isSuccess && points.length === 0 && <NoRuns parameters={parameters} />}
      {query.isSuccess && points.length > 0 && <TrendsView trends={query.data} parameters={parameters} />}
    </div>
  );
}

function NoRuns({ parameters: { tag, range, set } }: { parameters: TrendsParameters }) {
  if (tag !== '' || range !== '') {
    return (
      <EmptyState title="No runs match these filters">
        <Button onClick={() => set({ tag: '', range: '' })}>Clear filters</Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No complete runs of this experiment yet">
      <p>Partial runs are not shown.</p>
      <CommandSnippet>cargo cobalt run</CommandSnippet>
    </EmptyState>
  );
}

function TrendsView({ trends, parameters }: { trends: TrendsResponse; parameters: TrendsParameters }) {
  const { axis, evaluator } = parameters;
  const navigate = useNavigate();
  const [active, setActive] = useState<string>();
  const runs = useMemo(() => plotRuns(trends.trends, axis), [trends, axis]);
  const scores = useMemo(() => {
    const all = scoreSeries(evaluatorNames(trends.trends));
    const one = all.filter(({ name }) => name === evaluator);
    return one.length === 0 ? all : one;
  }, [trends, evaluator]);
  const open = useCallback((id: string) => navigate(runUrl(id)), [navigate]);
  const shared = { runs, active, onActive: setActive };
  return (
    <>
      {trends.trends.length === 1 && (
        <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3">
          <p className="grow">A trend needs at least two runs. Make a change and run the experiment again.</p>
          <CommandSnippet>cargo cobalt run</CommandSnippet>
        </div>
      )}
      <Charts
        {...shared}
        axis={axis}
        scores={scores}
        thresholds={trends.thresholds}
        parameters={parameters}
        onOpen={open}
      />
      <RunScatter points={trends.trends} parameters={parameters} onOpen={open} />
    </>
  );
}
