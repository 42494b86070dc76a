// The page of an experiment: its runs as a table with a column per score, and their trends.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { StartExperiment } from '../../actions/start-experiment';
import { runsQuery } from '../../api/queries';
import type { Runs } from '../../api/types';
import { buttonLook } from '../../components/button';
import { CommandSnippet, EmptyState } from '../../components/empty-state';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { Tabs } from '../../components/tabs';
import { Text } from '../../components/text';
import type { ExperimentTab } from '../../lib/addresses';
import { pluralize } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { useTitle } from '../../lib/use-title';
import { useUrlParameters } from '../../lib/use-url-parameters';
import { ExperimentRuns } from './runs';
import { Trends } from './trends';

export function Component() {
  const { name = '' } = useParams();
  useTitle(escapeHidden(name));
  // All runs: the table is sorted by any score. With each, the scores of the run before.
  const query = useQuery(runsQuery({ experiment: name, recent: 2 }));
  if (query.isError && query.data === undefined) {
    return <ErrorMessage title="Failed to load the runs" error={query.error} onRetry={query.refetch} />;
  }
  if (query.data === undefined || query.isPlaceholderData) {
    return <Skeleton label="Loading the runs" rows={8} className="h-14" />;
  }
  if (query.data.matching === 0) return <NotFound name={name} known={query.data} />;
  // Reset the page's state for another experiment.
  return <Experiment key={name} name={name} known={query.data} />;
}

function Experiment({ name, known }: { name: string; known: Runs }) {
  const { get, set } = useUrlParameters();
  const tab: ExperimentTab = get('tab') === 'trends' ? 'trends' : 'runs';
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-start gap-4">
        <div className="flex min-h-9 min-w-0 flex-1 flex-wrap items-center gap-x-4">
          <h1 className="min-w-0 font-semibold text-xl [overflow-wrap:anywhere]">
            <Text>{name}</Text>
          </h1>
          <p className="text-muted">{pluralize(known.matching, 'run')}</p>
        </div>
        <StartExperiment name={known.runs[0]?.variant?.experiment ?? name} />
      </div>
      <Tabs
        label="Views of the experiment"
        value={tab}
        // The parameters of one tab mean nothing to the other.
        onChange={(next) => set({ ...CLEARED, tab: next === 'runs' ? undefined : next })}
        tabs={[
          {
            value: 'runs',
            name: 'Runs',
            panel: <ExperimentRuns runs={known.runs} />,
          },
          { value: 'trends', name: 'Trends', panel: <Trends experiment={name} tags={known.tags} /> },
        ]}
        panelClassName="pt-3"
      />
    </div>
  );
}

const CLEARED = Object.fromEntries(
  [
    'search',
    'verdict',
    'sort',
    'order',
    'change',
    'evaluator',
    'range',
    'runs',
    'axis',
    'hide',
    'x',
    'y',
  ].map((name) => [name, undefined]),
);

function NotFound({ name, known }: { name: string; known: Runs }) {
  const isRunning = known.live.some((run) => run.name === name || run.variant?.experiment === name);
  if (isRunning) {
    return (
      <EmptyState title="The first run is in progress" isPage>
        <p>Its results appear here when it finishes.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="Experiment not found" isPage>
      <p className="max-w-xl [overflow-wrap:anywhere]">
        No run belongs to an experiment named{' '}
        <strong>
          <Text>{name}</Text>
        </strong>
        . Its runs may have been deleted, or it was never run.
      </p>
      <CommandSnippet>cargo cobalt run</CommandSnippet>
      <Link to="/" className={buttonLook()}>
        Show the experiments
      </Link>
    </EmptyState>
  );
}
