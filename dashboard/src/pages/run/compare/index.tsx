// The head of compare mode: the compared runs, and what changed.
import { useQuery } from '@tanstack/react-query';
import clsx from 'clsx';
import { ApiError } from '../../../api/client';
import { comparisonQuery } from '../../../api/queries';
import type { Overview } from '../../../api/types';
import { Button } from '../../../components/button';
import { ErrorMessage } from '../../../components/error-message';
import { Skeleton } from '../../../components/skeleton';
import { useChooseRuns, useComparedRuns } from './parameters';
import { referenceName, suggestedRuns } from './reference';
import { RunChips } from './run-chips';
import { Summary } from './summary';

/** Renders nothing outside compare mode. */
export function ComparisonHead({ overview }: { overview: Overview }) {
  const ids = useComparedRuns(overview.run.id);
  if (ids.length === 0) return null;
  return (
    <section
      aria-label="Comparison"
      className="max-h-[50dvh] shrink-0 overflow-y-auto border-line border-b bg-surface px-4 py-1.5"
    >
      <Head overview={overview} ids={ids} />
    </section>
  );
}

function Head({ overview, ids }: { overview: Overview; ids: string[] }) {
  const onChoose = useChooseRuns(overview.run.id);
  const query = useQuery(comparisonQuery(ids));
  const compared = query.data;
  if (query.isError) {
    const isMissing = query.error instanceof ApiError && query.error.status === 404;
    return (
      <>
        <ErrorMessage
          title={isMissing ? 'Run not found' : 'Failed to compare the runs'}
          error={query.error}
          onRetry={isMissing ? undefined : () => query.refetch()}
        />
        <p className="pb-2 text-center">
          <Button onClick={() => onChoose([])}>End the comparison</Button>
        </p>
      </>
    );
  }
  if (compared === undefined) return <Skeleton label="Comparing the runs" rows={2} className="h-9" />;
  const reference = referenceName(overview.run, compared.runs[0]?.id);
  return (
    <div
      className={clsx('flex flex-col gap-2', query.isPlaceholderData && 'opacity-60')}
      aria-busy={query.isPlaceholderData}
    >
      <RunChips
        runs={compared.runs}
        reference={reference}
        suggested={suggestedRuns(overview)}
        onChoose={onChoose}
      />
      <Summary key={ids.join()} comparisons={compared.comparisons} reference={reference} />
    </div>
  );
}
