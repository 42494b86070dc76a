// Marks a latency or cost that is that of a recording.
import { History } from 'lucide-react';
import { REPLAY_EXPLANATION } from '../lib/traffic';

interface ReplayMarkProps {
  /** Renders nothing without a mark. */
  mark?: string;
  explanation?: string;
}

/** The mark in words. */
export function ReplayMark({ mark, explanation = REPLAY_EXPLANATION }: ReplayMarkProps) {
  if (mark === undefined) return null;
  return (
    <span title={explanation} className="inline-flex gap-1 font-normal text-muted text-xs">
      <History className="mt-0.5 size-3 shrink-0" aria-hidden="true" />
      {mark}
    </span>
  );
}

/** The mark as an icon before a number, in words for screen readers. */
export function ReplayIcon({ mark, explanation = REPLAY_EXPLANATION }: ReplayMarkProps) {
  if (mark === undefined) return null;
  return (
    <span title={explanation} className="mr-1 inline-block align-[-1px] text-muted">
      <History className="size-3" aria-hidden="true" />
      <span className="sr-only">{mark}: </span>
    </span>
  );
}
