// The thresholds of a run, with actual values and results.

import { CircleCheck, CircleDashed, CircleX, Unplug } from 'lucide-react';
import type { Report, ThresholdOutcome } from '../../api/types';
import { Badge } from '../../components/badge';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { pluralize } from '../../lib/format';
import { withoutBackticks } from '../../lib/texts';
import { ThresholdName } from './threshold-name';

export const Thresholds = ({ run }: { run: Report }) => (
  <Panel title="Thresholds">
    <ThresholdTable run={run} />
  </Panel>
);

/** The thresholds without a frame. */
export function ThresholdTable({ run }: { run: Report }) {
  const outcomes = run.ciStatus?.thresholds ?? [];
  const pooled = run.pooled?.length ?? 0;
  return (
    <>
      {pooled > 0 && (
        <p className="mb-2 text-muted text-xs">
          Pooled with {pluralize(pooled, 'earlier run')} of this commit, as additional trials that can only
          make a result stricter.
        </p>
      )}
      {run.ciStatus?.drift?.map(({ evaluator, message }) => (
        <p key={evaluator} className="mb-2 text-warn text-xs">
          Drift: {withoutBackticks(message)}.
        </p>
      ))}
      {outcomes.length === 0 ? (
        <NotEvaluated run={run} />
      ) : (
        <table className="w-full">
          <caption className="sr-only">Thresholds</caption>
          <thead>
            <tr className="text-left text-muted text-xs [&>th]:pb-1.5 [&>th]:font-medium">
              <th scope="col">Threshold</th>
              <th scope="col" className="px-3 text-right">
                Actual
              </th>
              <th scope="col" className="text-right">
                Result
              </th>
            </tr>
          </thead>
          <tbody>
            {outcomes.map((outcome) => (
              <Row key={outcome.name} outcome={outcome} />
            ))}
          </tbody>
        </table>
      )}
      <SummaryErrors run={run} />
    </>
  );
}

/** The summary functions that failed, which fails the run. */
function SummaryErrors({ run: { summary } }: { run: Report }) {
  const errors = Object.entries(summary.summaryErrors ?? {});
  if (errors.length === 0) return null;
  return (
    <ul aria-label="Failed summary functions" className="mt-3 flex flex-col gap-1 border-line border-t pt-2">
      {errors.map(([name, error]) => (
        <li key={name} className="text-xs/5 [overflow-wrap:anywhere]">
          <span className="text-bad">Summary function </span>
          <span className="font-mono">
            <Text>{name}</Text>
          </span>
          <span className="text-bad"> failed: </span>
          <Text>{error}</Text>
        </li>
      ))}
    </ul>
  );
}

/** Explains why there are no results, and lists the thresholds that were not evaluated. */
function NotEvaluated({ run: { ciStatus, config, partial } }: { run: Report }) {
  const { strict, thresholds = [] } = config;
  if (thresholds.length === 0) {
    const none = strict
      ? 'No thresholds: the experiment is strict, so every item must reach its pass marks.'
      : 'No thresholds, and the experiment is not strict: scores alone cannot fail it.';
    return <p className="text-muted">{ciStatus?.summary ?? none}</p>;
  }
  return (
    <>
      <p className="text-muted">
        {partial === true
          ? 'Thresholds cover all items, so they are not evaluated for a partial run:'
          : 'Evaluated when the run finishes:'}
      </p>
      <ul className="mt-2 divide-y divide-line">
        {thresholds.map((name) => (
          <li key={name} className="py-1.5">
            <ThresholdName name={name} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Row({ outcome }: { outcome: ThresholdOutcome }) {
  // For other results, the actual value and the bound are enough.
  const needsMessage = outcome.finding === 'inconclusive' || outcome.actual == null;
  return (
    <>
      <tr className="border-line border-t align-top [&>*]:pt-2 [&>*]:pb-1">
        <th scope="row" className="text-left font-normal">
          <ThresholdName name={outcome.name} />
        </th>
        <td className="px-3 text-right whitespace-nowrap tabular-nums">{outcome.figure ?? '–'}</td>
        <td className="text-right">
          <ResultBadge outcome={outcome} />
        </td>
      </tr>
      <tr>
        <td colSpan={3} className="pb-1 text-muted text-xs [overflow-wrap:anywhere]">
          {needsMessage ? (
            <Text>{withoutBackticks(outcome.message)}</Text>
          ) : (
            outcome.againstBaseline === true && 'vs. baseline'
          )}
        </td>
      </tr>
    </>
  );
}

function ResultBadge({ outcome: { finding, actual, passed } }: { outcome: ThresholdOutcome }) {
  if (finding === 'met')
    return (
      <Badge tone="good" icon={<CircleCheck />}>
        Met
      </Badge>
    );
  if (finding === 'inconclusive') {
    return (
      <Badge tone={passed ? 'warn' : 'bad'} icon={<CircleDashed />}>
        Inconclusive
      </Badge>
    );
  }
  if (actual == null)
    return (
      <Badge tone="bad" icon={<Unplug />}>
        Nothing to measure
      </Badge>
    );
  return (
    <Badge tone="bad" icon={<CircleX />}>
      Missed
    </Badge>
  );
}
