// The description of a run in a store: inputs and outputs, without derived values.
import type { Execution, Report } from '../../src/api/types';

export interface PlannedEvaluator {
  name: string;
  passMark?: number;
}

export interface PlannedItem {
  key: string;
  input: Record<string, unknown>;
  /** One per trial, at least one. */
  executions: Execution[];
}

export interface Plan {
  name: string;
  /** Identifies the run within its experiment; the ID is derived from it. */
  number: number;
  timestamp: Date;
  tags?: string[];
  evaluators: PlannedEvaluator[];
  /** In the syntax of experiments: `correctness.avg >= 0.8`. */
  thresholds?: string[];
  runs?: number;
  concurrency?: number;
  timeoutMs?: number;
  strict?: boolean;
  /** For a partial run, the number of all items. */
  partialOf?: number;
  commit?: string;
  dirty?: boolean;
  dataset?: string;
  file?: string;
  /** The baseline of this run. */
  baseline?: Report;
  items: PlannedItem[];
}
