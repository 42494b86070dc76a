// The retried attempts of a run, so that an agent that passes only after retries does not look sound.
import { RotateCcw } from 'lucide-react';
import type { Report } from '../../api/types';
import { passedAfterRetryLine, retriedLine } from '../../lib/retries';
import { FactStrip } from './fact-strip';

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
    <FactStrip label="Retries" icon={RotateCcw} line={`Retried: ${line}`}>
      {passed !== undefined && <p className="font-medium text-warn text-xs tabular-nums">{passed}</p>}
      <button
        type="button"
        onClick={onRetried}
        className="rounded font-medium text-accent text-xs hover:underline"
      >
        Show retried items
      </button>
    </FactStrip>
  );
}
