// The page that compares two or three runs.
import clsx from 'clsx';
import { useState } from 'react';
import { Link } from 'react-router';
import { ApiError } from '../../api/client';
import { Button } from '../../components/button';
import { ErrorMessage } from '../../components/error-message';
import { Skeleton } from '../../components/skeleton';
import { useTitle } from '../../lib/use-title';
import { ComparedRuns } from './compared-runs';
import { Items } from './items';
import { type CompareParameters, rankingUrl, SIDES, useCompareParameters } from './parameters';
import { runInSentence } from './run-letter';
import { RunPicker } from './run-picker';
import { RunSelection } from './run-selection';
import { Summary } from './summary';
import { useComparison } from './use-items';

export function Component() {
  useTitle('Compare');
  const parameters = useCompareParameters();
  const [place, setPlace] = useState<number>();
  const isChosen = parameters.ids.length > 1;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex min-h-9 flex-wrap items-center justify-between gap-2">
        <h1 className="font-semibold text-xl">Compare</h1>
        {isChosen && (
          <div className="flex items-center gap-2">
            {parameters.ids.length < SIDES.length && (
              <Button onClick={() => setPlace(parameters.ids.length)}>Add a third run</Button>
            )}
            <Link to={rankingUrl(parameters.ids)} className="px-2 text-accent hover:underline">
              Rank these runs
            </Link>
            <Link to="/compare" className="px-2 text-accent hover:underline">
              New comparison
            </Link>
          </div>
        )}
      </div>
      {isChosen ? (
        <ComparisonView parameters={parameters} place={place} setPlace={setPlace} />
      ) : (
        <RunSelection first={parameters.ids[0]} onChoose={parameters.chooseRuns} />
      )}
    </div>
  );
}

interface ComparisonViewProps {
  parameters: CompareParameters;
  /** The place whose run is being selected. */
  place: number | undefined;
  setPlace: (place: number | undefined) => void;
}

function ComparisonView({ parameters, place, setPlace }: ComparisonViewProps) {
  const { ids, search, evaluator, sort, only } = parameters;
  const [a = '', b = '', c] = ids;
  const filter = { a, b, c, search, evaluator, sort, only };
  // The item of a shared link. Items that are opened later are already visible.
  const [linked] = useState(parameters.item);
  const query = useComparison(filter, linked);
  const compared = query.data;
  const shown = compared?.runs.map((run) => run.id).join();
  const select = (id: string) => {
    const next = [...ids];
    next[place ?? 0] = id;
    setPlace(undefined);
    parameters.chooseRuns(next);
  };
  return (
    <div className="flex flex-col gap-4" aria-busy={query.isPending}>
      {query.isPending && <Skeleton label="Comparing the runs" rows={4} className="h-32" />}
      {query.isError && (
        <CompareError error={query.error} onRetry={() => query.refetch()} parameters={parameters} />
      )}
      {compared !== undefined && (
        <div className={clsx('flex flex-col gap-4', shown !== ids.join() && 'opacity-50')}>
          <ComparedRuns runs={compared.runs} onChoose={parameters.chooseRuns} onChange={setPlace} />
          <Summary comparisons={compared.comparisons} />
          <Items compared={compared} start={query} filter={filter} parameters={parameters} />
        </div>
      )}
      {place !== undefined && (
        <RunPicker
          title={`Select ${runInSentence(place)}`}
          experiment={compared?.runs[0]?.name}
          selected={ids}
          onSelect={(run) => select(run.id)}
          onClose={() => setPlace(undefined)}
        />
      )}
    </div>
  );
}

interface CompareErrorProps {
  error: unknown;
  onRetry: () => void;
  parameters: CompareParameters;
}

function CompareError({ error, onRetry, parameters: { evaluator, set } }: CompareErrorProps) {
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <>
      <ErrorMessage
        title={isMissing ? 'Run not found' : 'Failed to compare the runs'}
        error={error}
        onRetry={isMissing ? undefined : onRetry}
      />
      <p className="flex justify-center gap-4">
        {evaluator !== '' && (
          <button type="button" className="text-accent underline" onClick={() => set({ evaluator: '' })}>
            Compare all evaluators
          </button>
        )}
        <Link to="/compare" className="text-accent underline">
          Select other runs
        </Link>
      </p>
    </>
  );
}
