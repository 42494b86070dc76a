// What was replayed of a run's model traffic, and what was sent.
import { History } from 'lucide-react';
import type { Report } from '../../api/types';
import { pluralize } from '../../lib/format';
import { trafficLine, trafficNotes } from '../../lib/traffic';

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
    <section
      aria-label="Model traffic"
      className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-lg border border-line bg-surface px-4 py-2.5"
    >
      <p className="flex items-center gap-2 font-medium tabular-nums">
        <History className="size-4 shrink-0 text-muted" aria-hidden="true" />
        {line}
      </p>
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
    </section>
  );
}
