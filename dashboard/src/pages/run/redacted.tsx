// Says that a run has no inputs and outputs, as they were removed before it was pushed to a remote store.
import { EyeOff } from 'lucide-react';
import type { Report } from '../../api/types';
import { FactStrip } from './fact-strip';

/** Renders nothing if the run is complete. */
export function RunRedacted({ run }: { run: Report }) {
  if (!run.redacted) return null;
  return (
    <FactStrip label="Redacted" icon={EyeOff} line="Redacted: inputs and outputs were removed">
      <p className="min-w-0 text-muted">Scores, latencies, tokens and costs are those of the whole run.</p>
    </FactStrip>
  );
}
