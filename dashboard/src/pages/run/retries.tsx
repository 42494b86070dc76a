// The retried attempts of a run, so that an agent that passes only after retries does not look sound.
import { RotateCcw } from 'lucide-react';
import type { Report } from '../../api/types';
import { passedAfterRetryLine, retriedLine } from '../../lib/retries';

interface RunRetriesProps {
  run: Report;
  /** Shows the items with retried attempts. */
  onRetried: () => void;
}

/** Renders nothing if no attempt was retried. */
export function RunRetries({ run: { summary }, onRetried }: RunRetriesProps) {
  const line = retriedLine(summary);
  if (line === undefined) return null;
  const passed = passedAfterRetryLine(summary);
  return (
    <section
      aria-label="Retries"
      className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-lg border border-line bg-surface px-4 py-2.5"
    >
      <p className="flex items-center gap-2 font-medium tabular-nums">
        <RotateCcw className="size-4 shrink-0 text-muted" aria-hidden="true" />
        Retried: {line}
      </p>
      {passed !== undefined && <p className="font-medium text-warn text-xs tabular-nums">{passed}</p>}
      <button
        type="button"
        onClick={onRetried}
        className="rounded font-medium text-accent text-xs hover:underline"
      >
        Show retried items
      </button>
    </section>
  );
}
