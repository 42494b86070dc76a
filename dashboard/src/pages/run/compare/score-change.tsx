// The change of an item's score in a cell of the table, and the items that not all runs have.
import clsx from 'clsx';
import { ArrowDown, ArrowUp, Minus } from 'lucide-react';
import type { ItemRow } from '../../../api/types';
import { formatScore, formatSigned } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { LETTERS } from './run-letter';

/** Smaller differences are rounding errors. */
export const EPSILON = 1e-9;

interface ScoreChangeProps {
  item: ItemRow;
  evaluator: string;
}

/** The change of a score from the reference to this run, and to other runs. Renders nothing outside compare mode. */
export function ScoreChange({ item, evaluator }: ScoreChangeProps) {
  const [reference, ...others] = item.compared ?? [];
  if (item.compared === undefined || (item.isMissing && others.length === 0)) return null;
  const before = reference == null ? undefined : getOwn(reference.scores, evaluator);
  const changes = [item, ...others].map((one) => {
    const now = one == null ? undefined : getOwn(one.scores, evaluator);
    return now === undefined || before === undefined ? undefined : now - before;
  });
  if (others.length === 0) return <Change change={changes[0]} before={before} />;
  return (
    <span className="inline-flex gap-2">
      {changes.map((change, place) => (
        <span key={LETTERS[place + 1]} className="inline-flex gap-1">
          <span className="text-muted text-xs">{LETTERS[place + 1]}</span>
          <Change change={change} before={before} />
        </span>
      ))}
    </span>
  );
}

interface ChangeProps {
  /** Undefined if a run has no score. */
  change: number | undefined;
  /** The score in the reference. */
  before: number | undefined;
}

/** Without colour: for a single item, a change cannot be told from noise. */
function Change({ change, before }: ChangeProps) {
  if (change === undefined) {
    return (
      <span className="text-muted text-xs" title="No score in one of the runs">
        <span aria-hidden="true">–</span>
        <span className="sr-only">, no score to compare</span>
      </span>
    );
  }
  const isEqual = Math.abs(change) < EPSILON;
  const Icon = isEqual ? Minus : change < 0 ? ArrowDown : ArrowUp;
  return (
    <span
      title={before === undefined ? undefined : `Was ${formatScore(before)}`}
      className={clsx(
        'inline-flex items-center gap-0.5 text-xs tabular-nums',
        isEqual ? 'text-muted' : 'text-text',
      )}
    >
      <Icon className="size-3 shrink-0" aria-hidden="true" />
      {isEqual ? <span className="sr-only">no change</span> : formatSigned(change)}
    </span>
  );
}

/** Marks an item that the reference does not have, that failed in one of the two runs, or whose input changed. */
export function ItemPresence({ item }: { item: ItemRow }) {
  if (item.compared === undefined) return null;
  const [base] = item.compared;
  if (base == null) return <Note>only in this run</Note>;
  return (
    <>
      {item.status !== 'ok' && base.status === 'ok' && <Note>new failure</Note>}
      {item.status === 'ok' && base.status !== 'ok' && <Note>failed before</Note>}
      {item.compared.some((one) => one?.changed === true) && <Note>input changed</Note>}
    </>
  );
}

const Note = ({ children }: { children: string }) => (
  <span className="ml-2 text-warn text-xs whitespace-nowrap">{children}</span>
);
