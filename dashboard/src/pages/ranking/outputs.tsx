// The outputs of an item in full, beside each other, each with its evaluations.
import { useQueries } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { Link } from 'react-router';
import { itemQuery } from '../../api/queries';
import type { Matrix, MatrixItem, WholeItem } from '../../api/types';
import { Conversation } from '../../components/conversation';
import { ErrorMessage } from '../../components/error-message';
import { FieldList, FieldValue } from '../../components/field-list';
import { Skeleton } from '../../components/skeleton';
import { Text, TextBlock } from '../../components/text';
import { formatDuration, formatScore, pluralize } from '../../lib/format';
import { besideTable } from '../../lib/item-addresses';

interface OutputsProps {
  item: MatrixItem;
  runs: Matrix['runs'];
  labels: string[];
}

export function Outputs({ item, runs, labels }: OutputsProps) {
  const shown = runs.flatMap(({ id }, place) =>
    item.cells[place] == null ? [] : [{ id, label: labels[place] ?? id }],
  );
  const loaded = useQueries({ queries: shown.map(({ id }) => itemQuery(id, item.key, {})) });
  const input = loaded.findLast(({ data }) => data !== undefined)?.data?.item.input;
  return (
    <div className="flex flex-col gap-4 rounded-md border border-line bg-surface p-4 lg:sticky lg:left-0">
      <div className="grid gap-4 sm:grid-cols-[repeat(auto-fit,minmax(16rem,1fr))]">
        {shown.map(({ id, label }, index) => {
          const query = loaded[index];
          return (
            <section key={id} aria-label={`Output of ${label}`} className="flex min-w-0 flex-col gap-2">
              <h3 className="flex flex-wrap items-center justify-between gap-x-3 font-medium text-xs">
                <span className="[overflow-wrap:anywhere]">
                  <Text>{label}</Text>
                </span>
                <Link
                  to={besideTable(id, item.key)}
                  className="inline-flex items-center gap-1.5 font-normal text-accent hover:underline"
                >
                  <ExternalLink className="size-3.5" aria-hidden="true" />
                  Open<span className="sr-only"> in {label}</span>
                </Link>
              </h3>
              {query?.data !== undefined && <Output whole={query.data} />}
              {query?.isPending && <Skeleton label="Loading the output" className="h-16" />}
              {query?.isError && (
                <ErrorMessage
                  title="Failed to load the output"
                  error={query.error}
                  onRetry={() => query.refetch()}
                />
              )}
            </section>
          );
        })}
      </div>
      {input !== undefined && (
        <section aria-label="Item">
          <h3 className="mb-2 font-medium text-muted text-xs">Item</h3>
          <FieldList fields={input} />
        </section>
      )}
    </div>
  );
}

const BOX = 'rounded-md border px-3 py-2';

/** The output of the first trial, or the error, with the evaluations. */
function Output({ whole: { item, row } }: { whole: WholeItem }) {
  const [first] = item.runs?.length ? item.runs : [item];
  const { output, status, error, evaluations = {} } = first ?? item;
  return (
    <>
      {status === 'ok' ? (
        <div className={`${BOX} border-line bg-sunken/50`}>
          <FieldValue value={output?.output} />
        </div>
      ) : (
        <div className={`${BOX} border-bad bg-bad-soft text-bad`}>
          <p className="font-medium">
            <Text>{status}</Text>
          </p>
          <TextBlock>{error ?? 'No error message'}</TextBlock>
        </div>
      )}
      {first?.transcript != null && (
        <details>
          <summary className="cursor-pointer font-medium text-accent text-xs">
            Conversation ({pluralize(first.transcript.turns.length, 'turn')})
          </summary>
          <div className="mt-2">
            <Conversation transcript={first.transcript} />
          </div>
        </details>
      )}
      <dl className="flex flex-col gap-1.5 text-xs">
        {Object.entries(evaluations).map(([name, { score, reason, error: failure, notApplicable }]) => (
          <div key={name}>
            <dt className="inline font-medium [overflow-wrap:anywhere]">
              <Text>{name}</Text>
            </dt>{' '}
            <dd className="inline tabular-nums">
              {notApplicable ? 'n/a' : score == null ? 'no score' : formatScore(score)}
            </dd>
            {reason != null && reason !== '' && (
              <dd className="text-muted">
                <TextBlock>{reason}</TextBlock>
              </dd>
            )}
            {failure != null && (
              <dd className="text-bad">
                <TextBlock>{failure}</TextBlock>
              </dd>
            )}
          </div>
        ))}
        <div className="text-muted">
          <dt className="inline">Latency</dt>{' '}
          <dd className="inline tabular-nums">
            {formatDuration(row.latencyMs)}
            {row.runs > 1 && `, mean of ${row.runs} trials`}
          </dd>
        </div>
      </dl>
    </>
  );
}
