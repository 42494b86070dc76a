// The page that shows how the runs of an experiment went over time.
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { runsQuery, trendsQuery } from '../../api/queries';
import type { Runs, Trends } from '../../api/types';
import { Button } from '../../components/button';
import { Command, Empty } from '../../components/empty';
import { Problem } from '../../components/problem';
import { Skeleton } from '../../components/skeleton';
import { useTitle } from '../../lib/use-title';
import { Charts } from './charts';
import { type Chosen, useChosen } from './chosen';
import { Controls } from './controls';
import { evaluators, places, scoreSeries } from './series';
import { TrendTable } from './table';

export function Component() {
  useTitle('Trends');
  const chosen = useChosen();
  const known = useQuery(runsQuery({ limit: 1 }));
  const experiment = chosen.experiment || known.data?.experiments[0]?.name;
  return (
    <div className="flex flex-col gap-4">
      <h1 className="font-semibold text-xl">Trends</h1>
      {known.isPending && <Skeleton label="Loading the experiments" />}
      {known.isError && (
        <Problem title="The runs could not be read" error={known.error} onRetry={() => known.refetch()} />
      )}
      {known.isSuccess && experiment === undefined && (
        <Empty title="There are no runs yet">
          <p>Run your experiments; each run is a point here.</p>
          <Command>cargo cobalt run</Command>
        </Empty>
      )}
      {known.isSuccess && experiment !== undefined && (
        <Experiment known={known.data} experiment={experiment} chosen={chosen} />
      )}
    </div>
  );
}

interface ExperimentProps {
  known: Runs;
  experiment: string;
  chosen: Chosen;
}

function Experiment({ known, experiment, chosen }: ExperimentProps) {
  const { tag, since, limit } = chosen;
  const found = useQuery(trendsQuery({ experiment, tag, since, limit }));
  const points = found.data?.trends ?? [];
  return (
    <div className="flex flex-col gap-4" aria-busy={found.isPending}>
      <Controls known={known} experiment={experiment} evaluators={evaluators(points)} chosen={chosen} />
      {found.isPending && <Skeleton label="Loading the runs" className="h-96" />}
      {found.isError && (
        <Problem title="The runs could not be read" error={found.error} onRetry={() => found.refetch()} />
      )}
      {found.isSuccess && points.length === 0 && <NoRuns chosen={chosen} />}
      {found.isSuccess && points.length > 0 && <Drawn trends={found.data} chosen={chosen} />}
    </div>
  );
}

function NoRuns({ chosen: { tag, range, set } }: { chosen: Chosen }) {
  if (tag !== '' || range !== '') {
    return (
      <Empty title="No run matches">
        <Button onClick={() => set({ tag: '', range: '' })}>Show runs of any tag and time</Button>
      </Empty>
    );
  }
  return (
    <Empty title="This experiment has no whole run yet">
      <p>Runs of some of the items are not drawn.</p>
      <Command>cargo cobalt run</Command>
    </Empty>
  );
}

function Drawn({ trends, chosen }: { trends: Trends; chosen: Chosen }) {
  const { axis, evaluator } = chosen;
  const navigate = useNavigate();
  const [active, setActive] = useState<string>();
  const inPlaces = useMemo(() => places(trends.trends, axis), [trends, axis]);
  const scores = useMemo(() => {
    const all = scoreSeries(evaluators(trends.trends));
    const one = all.filter(({ name }) => name === evaluator);
    return one.length === 0 ? all : one;
  }, [trends, evaluator]);
  const open = useCallback((id: string) => navigate(`/runs/${encodeURIComponent(id)}`), [navigate]);
  const shared = { places: inPlaces, active, onActive: setActive };
  return (
    <>
      {trends.trends.length === 1 && (
        <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3">
          <p className="grow">One run makes no trend yet. Change something, and run it again.</p>
          <Command>cargo cobalt run</Command>
        </div>
      )}
      <Charts
        {...shared}
        axis={axis}
        scores={scores}
        thresholds={trends.thresholds}
        chosen={chosen}
        onOpen={open}
      />
      <TrendTable {...shared} scores={scores} />
    </>
  );
}
