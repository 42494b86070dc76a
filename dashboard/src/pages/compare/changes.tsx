// How an item changed from the baseline to another run: its scores, and whether it came to fail.
import clsx from 'clsx';
import { ArrowDown, ArrowUp, Minus } from 'lucide-react';
import type { ComparedItem } from '../../api/types';
import { Text } from '../../components/text';
import { score } from '../../lib/format';

interface ChangesProps {
  item: ComparedItem;
  /** Which of the other runs, from 0. */
  other: number;
  /** The one evaluator that counts; all, where it is empty. */
  evaluator: string;
}

/** The most scores that are named in a line. */
const NAMED = 4;

export function Changes({ item, other, evaluator }: ChangesProps) {
  const [base, run] = [item.outputs[0], item.outputs[other + 1]];
  if (base === null || base === undefined) return <Nothing>not in the baseline</Nothing>;
  if (run === null || run === undefined) return <Nothing>not in this run</Nothing>;
  const all = item.scoreChanges[other] ?? [];
  const scores = evaluator === '' ? all : all.filter((change) => change.evaluator === evaluator);
  const [failedBefore, failsNow] = [base.status !== 'ok', run.status !== 'ok'];
  if (scores.length === 0 && failedBefore === failsNow) {
    return <Nothing>{failsNow ? 'fails in both' : 'no change'}</Nothing>;
  }
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-3 gap-y-1 text-xs/5">
      {failsNow && !failedBefore && <Change sign={-1}>fails now</Change>}
      {failedBefore && !failsNow && <Change sign={1}>fails no longer</Change>}
      {scores.slice(0, NAMED).map(({ evaluator, base, other }) => (
        <Change key={evaluator} sign={Math.sign((other ?? 0) - (base ?? 0))}>
          <span className="text-text [overflow-wrap:anywhere]">
            <Text>{evaluator}</Text>
          </span>{' '}
          <span className="whitespace-nowrap">
            {known(base)} → {known(other)}
          </span>
        </Change>
      ))}
      {scores.length > NAMED && <li className="text-muted">{scores.length - NAMED} more</li>}
    </ul>
  );
}

const known = (value: number | null) => (value === null ? 'no score' : score(value));

function Nothing({ children }: { children: string }) {
  return (
    <span className="inline-flex items-center gap-1 text-muted text-xs/5">
      <Minus className="size-3.5" aria-hidden="true" />
      {children}
    </span>
  );
}

/** A change for the better or the worse, by its sign. */
function Change({ sign, children }: { sign: number; children: React.ReactNode }) {
  const Arrow = sign < 0 ? ArrowDown : ArrowUp;
  return (
    <li className={clsx('flex min-w-0 items-start gap-1 tabular-nums', sign < 0 ? 'text-bad' : 'text-good')}>
      <Arrow className="mt-0.75 size-3.5 shrink-0" aria-label={sign < 0 ? 'worse:' : 'better:'} />
      <span className="min-w-0">{children}</span>
    </li>
  );
}
