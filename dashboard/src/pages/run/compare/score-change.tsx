// The change of an item's score in a cell of the table, and the items that not all runs have.
import clsx from 'clsx';
import { ArrowDown, ArrowUp, Minus } from 'lucide-react';
import type { ItemRow } from '../../../api/types';
import { Badge } from '../../../components/badge';
import { formatScore, formatSigned } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { LETTERS, type ReferenceName } from './run-letter';

/** Smaller differences are rounding errors. */
const EPSILON = 1e-9;

interface ScoreChangeProps {
  item: ItemRow;
  evaluator: string;
}

/** The change of a score from the reference to this run, and to other runs. */
export function ScoreChange({ item, evaluator }: ScoreChangeProps) {
  const [reference, ...others] = item.compared ?? [];
  if (item.compared === undefined) return null;
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

interface PresenceProps {
  item: ItemRow;
  reference: ReferenceName;
}

/** Marks an item that is new, failed newly, has another input, or is in other runs only. */
export function ItemPresence({ item, reference }: PresenceProps) {
  const [base] = item.compared ?? [];
  if (item.compared === undefined) return null;
  if (item.isMissing === true) {
    const others = item.compared.flatMap((one, place) =>
      one === null ? [] : [place === 0 ? reference : `run ${LETTERS[place + 1]}`],
    );
    return <Badge tone="warn">Only in {others.join(', ')}</Badge>;
  }
  if (base == null) return <Badge tone="warn">Not in {reference}</Badge>;
  const failsNow = item.status !== 'ok' && base.status === 'ok';
  const failedBefore = item.status === 'ok' && base.status !== 'ok';
  return (
    <>
      {failsNow && <Badge tone="bad">Now fails</Badge>}
      {failedBefore && <Badge tone="good">No longer fails</Badge>}
      {item.compared.some((one) => one?.changed === true) && <Badge tone="warn">Input changed</Badge>}
    </>
  );
}
