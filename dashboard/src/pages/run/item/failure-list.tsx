// Why an item did not pass, in a few lines: folded, each reason has one.
import clsx from 'clsx';
import { useState } from 'react';
import type { Item, Report } from '../../../api/types';
import { Text, TextBlock } from '../../../components/text';
import { formatScore } from '../../../lib/format';
import { AgentFailure } from './agent-failure';
import { agentErrorOf, type Failure, failuresOf } from './failures';

interface FailureListProps {
  run: Report;
  item: Item;
  /** The index of the selected trial. */
  shown: number;
  onShow: (trial: number) => void;
}

/** Reasons longer than this hardly fit on a line. */
const LONG = 60;

export function FailureList({ run, item, shown, onShow }: FailureListProps) {
  const [isOpen, setOpen] = useState(false);
  const error = agentErrorOf(item, shown);
  const failures = failuresOf(run, item, shown);
  if (error === undefined && failures.length === 0) return null;
  const reasons = [error?.execution.error ?? '', ...failures.map(reasonOf)];
  const isLong = reasons.some((reason) => reason.length > LONG || reason.includes('\n'));
  return (
    <div className="text-xs">
      <ul
        aria-label="Why it failed"
        tabIndex={isOpen ? 0 : undefined}
        className={clsx(isOpen && 'max-h-[40dvh] overflow-y-auto', 'flex flex-col gap-1')}
      >
        {error !== undefined && (
          <li className="flex flex-wrap items-baseline gap-x-2 text-bad">
            <AgentFailure status={error.execution.status} />
            <OtherTrial trial={error.trial} shown={shown} onShow={onShow} />
            <Reason isOpen={isOpen}>{error.execution.error ?? ''}</Reason>
          </li>
        )}
        {failures.map((failure) => (
          <li key={failure.evaluator} className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-medium [overflow-wrap:break-word]">
              <Text>{failure.evaluator}</Text>
            </span>
            <Missed failure={failure} />
            <OtherTrial trial={failure.trial} shown={shown} onShow={onShow} />
            <Reason isOpen={isOpen}>{reasonOf(failure)}</Reason>
          </li>
        ))}
      </ul>
      {isLong && (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="mt-0.5 rounded font-medium text-accent hover:underline"
        >
          {isOpen ? 'Show less' : 'Show full reasons'}
        </button>
      )}
    </div>
  );
}

const reasonOf = ({ evaluation }: Failure) => evaluation.error ?? evaluation.reason ?? '';

/** How a score misses its pass mark. */
function Missed({ failure: { evaluation, passMark } }: { failure: Failure }) {
  if (evaluation.score == null) return <span className="text-bad">scoring error</span>;
  return (
    <span className="whitespace-nowrap text-warn tabular-nums">
      {formatScore(evaluation.score)}
      {passMark !== undefined && ` < ${Number(passMark.toFixed(3))}`}
      <span className="sr-only"> (below pass mark)</span>
    </span>
  );
}

/** Says that another trial than the selected one failed, and selects it. */
function OtherTrial({
  trial,
  shown,
  onShow,
}: {
  trial: number;
  shown: number;
  onShow: (trial: number) => void;
}) {
  if (trial === shown) return null;
  return (
    <button type="button" onClick={() => onShow(trial)} className="rounded text-accent hover:underline">
      in trial {trial + 1}
    </button>
  );
}

function Reason({ isOpen, children }: { isOpen: boolean; children: string }) {
  if (children === '') return null;
  if (isOpen) return <TextBlock className="basis-full text-muted">{children}</TextBlock>;
  return (
    <span className="min-w-0 flex-[1_1_14rem] truncate text-muted">
      <Text>{children.slice(0, 500)}</Text>
    </span>
  );
}
