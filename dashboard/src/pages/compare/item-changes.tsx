// How an item changed from run A to another run: its scores and failures.
import clsx from 'clsx';
import { ArrowDown, ArrowUp, Minus } from 'lucide-react';
import type { ComparedItem, ComparedOutput } from '../../api/types';
import { Text } from '../../components/text';
import { formatScore } from '../../lib/format';

interface ItemChangesProps {
  item: ComparedItem;
  /** The index of the other run, from 0. */
  other: number;
  /** The evaluator to show, empty for all. With one evaluator, failures are not shown. */
  evaluator: string;
}

/** The maximum number of scores to list. */
const MAX_SCORES = 4;

export function ItemChanges({ item, other, evaluator }: ItemChangesProps) {
  const [base, run] = [item.outputs[0], item.outputs[other + 1]];
  if (base === null || base === undefined) return <NoChange>Not in run A</NoChange>;
  if (run === null || run === undefined) return <NoChange>Not in this run</NoChange>;
  const scores = item.scoreChanges[other] ?? [];
  const [failedBefore, failsNow] = [base.failedRuns > 0, run.failedRuns > 0];
  const failure = evaluator === '' ? Number(failedBefore) - Number(failsNow) : 0;
  if (scores.length === 0 && failure === 0) {
    return <NoChange>{failsNow && failedBefore ? 'Failed in both' : 'No change'}</NoChange>;
  }
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-3 gap-y-1 text-xs/5">
      {failure < 0 && <Change sign={-1}>Now {failureText(run)}</Change>}
      {failure > 0 && <Change sign={1}>No longer {failureText(base)}</Change>}
      {scores.slice(0, MAX_SCORES).map(({ evaluator, base, other }) => (
        <Change key={evaluator} sign={base === null || other === null ? 0 : Math.sign(other - base)}>
          <span className="text-text [overflow-wrap:anywhere]">
            <Text>{evaluator}</Text>
          </span>{' '}
          <span className="whitespace-nowrap">
            {scoreText(base)} → {scoreText(other)}
          </span>
        </Change>
      ))}
      {scores.length > MAX_SCORES && <li className="text-muted">{scores.length - MAX_SCORES} more</li>}
    </ul>
  );
}

/** Describes the failure of an item: the agent or an evaluator failed. */
const failureText = ({ status }: ComparedOutput) => (status === 'ok' ? 'has a scoring error' : 'fails');

const scoreText = (value: number | null) => (value === null ? 'no score' : formatScore(value));

function NoChange({ children }: { children: string }) {
  return (
    <span className="inline-flex items-center gap-1 text-muted text-xs/5">
      <Minus className="size-3.5" aria-hidden="true" />
      {children}
    </span>
  );
}

const WORSE = { look: 'text-bad', Icon: ArrowDown, name: 'regressed:' };
const BETTER = { look: 'text-good', Icon: ArrowUp, name: 'improved:' };
const NEITHER = { look: 'text-muted', Icon: Minus, name: 'not comparable:' };

/** An improvement or regression, by its sign; 0 if the scores are not comparable. */
function Change({ sign, children }: { sign: number; children: React.ReactNode }) {
  const { look, Icon, name } = sign < 0 ? WORSE : sign > 0 ? BETTER : NEITHER;
  return (
    <li className={clsx('flex min-w-0 items-start gap-1 tabular-nums', look)}>
      <Icon className="mt-0.75 size-3.5 shrink-0" aria-label={name} />
      <span className="min-w-0">{children}</span>
    </li>
  );
}
