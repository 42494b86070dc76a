// What was replayed of a run's model traffic, and what was sent.
import { History } from 'lucide-react';
import type { Report } from '../../api/types';
import { pluralize } from '../../lib/format';
import { trafficLine, trafficNotes } from '../../lib/traffic';
import { FactStrip } from './fact-strip';

interface RunTrafficProps {
  run: Report;
  /** Shows the items that diverged from the recording. */
  onDiverged: () => void;
}

/** Renders nothing if no traffic passed through the gateway. */
export function RunTraffic({ run: { summary }, onDiverged }: RunTrafficProps) {
  const line = trafficLine(summary);
  if (line === undefined) return null;
  const diverged = summary.traffic?.divergedItems ?? 0;
  return (
    <FactStrip label="Model traffic" icon={History} line={line}>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs tabular-nums">
        {diverged > 0 && (
          <li>
            <button
              type="button"
              onClick={onDiverged}
              className="rounded font-medium text-warn hover:underline"
            >
              {pluralize(diverged, 'item')} diverged from the recording
            </button>
          </li>
        )}
        {trafficNotes(summary).map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </FactStrip>
  );
}
