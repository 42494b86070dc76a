// The trends page: the runs of an experiment over time.
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { runsQuery, trendsQuery } from '../../api/queries';
import type { Runs, Trends } from '../../api/types';
import { Button } from '../../components/button';
import { CommandSnippet, EmptyState } from '../../components/empty-state';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { useTitle } from '../../lib/use-title';
import { Charts } from './charts';
import { Controls } from './controls';
import { type TrendsParameters, useTrendsParameters } from './parameters';
import { evaluatorNames, plotRuns, scoreSeries } from './series';
import { TrendTable } from './table';

export function Component() {
  useTitle('Trends');
  const parameters = useTrendsParameters();
  const known = useQuery(runsQuery({ limit: 1 }));
  const experiment = parameters.experiment || known.data?.experiments[0]?.name;
  return (
    <div className="flex flex-col gap-4">
      <h1 className="font-semibold text-xl">Trends</h1>
      {known.isPending && <Skeleton label="Loading experiments" />}
      {known.isError && (
        <ErrorMessage title="Failed to load the runs" error={known.error} onRetry={() => known.refetch()} />
      )}
      {known.isSuccess && experiment === undefined && (
        <EmptyState title="No runs yet">
          <p>Run your experiments; each run becomes a point here.</p>
          <CommandSnippet>cargo cobalt run</CommandSnippet>
        </EmptyState>
      )}
      {known.isSuccess && experiment !== undefined && (
        <Experiment known={known.data} experiment={experiment} parameters={parameters} />
      )}
    </div>
  );
}

interface ExperimentProps {
  known: Runs;
  experiment: string;
  parameters: TrendsParameters;
}

function Experiment({ known, experiment, parameters }: ExperimentProps) {
  const { tag, since, limit } = parameters;
  const query = useQuery(trendsQuery({ experiment, tag, since, limit }));
  const points = query.data?.trends ?? [];
  return (
    <div className="flex flex-col gap-4" aria-busy={query.isPending}>
      <Controls
        known={known}
        experiment={experiment}
        evaluators={evaluatorNames(points)}
        parameters={parameters}
      />
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

function TrendsView({ trends, parameters }: { trends: Trends; parameters: TrendsParameters }) {
  const { axis, evaluator } = parameters;
  const navigate = useNavigate();
  const [active, setActive] = useState<string>();
  const runs = useMemo(() => plotRuns(trends.trends, axis), [trends, axis]);
  const scores = useMemo(() => {
    const all = scoreSeries(evaluatorNames(trends.trends));
    const one = all.filter(({ name }) => name === evaluator);
    return one.length === 0 ? all : one;
  }, [trends, evaluator]);
  const open = useCallback((id: string) => navigate(`/runs/${encodeURIComponent(id)}`), [navigate]);
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
      <TrendTable {...shared} scores={scores} />
    </>
  );
}
