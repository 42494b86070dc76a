// A run as the stores describe it: what was asked and what came of it, without any figure that follows from these.
import type { Execution, Report } from '../../src/api/types';

export interface PlannedEvaluator {
  name: string;
  passMark?: number;
}

export interface PlannedItem {
  key: string;
  input: Record<string, unknown>;
  /** One for each run of the item, at least one. */
  executions: Execution[];
}

export interface Plan {
  name: string;
  /** Tells apart the runs of an experiment; the id follows from it. */
  number: number;
  timestamp: Date;
  tags?: string[];
  evaluators: PlannedEvaluator[];
  /** As they are written in an experiment: `correctness.avg >= 0.8`. */
  thresholds?: string[];
  runs?: number;
  concurrency?: number;
  timeoutMs?: number;
  strict?: boolean;
  /** The items that were run, where these were not all, of so many. */
  partialOf?: number;
  commit?: string;
  dirty?: boolean;
  dataset?: string;
  file?: string;
  /** The run that this one is held against. */
  baseline?: Report;
  items: PlannedItem[];
}
