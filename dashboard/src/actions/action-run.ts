// What the actions need to know of a run.
import type { Overview, RunState } from '../api/types';

export interface ActionRun {
  id: string;
  /** The experiment's name, with that of the variant. */
  name: string;
  /** The name that a user gave to the run. */
  runName?: string;
  note?: string;
  tags: string[];
  state: RunState;
  isPartial: boolean;
  isBaseline: boolean;
  /** Whether a newer run of the experiment has replaced its results. */
  isReplaced: boolean;
  /** The number of items below a pass mark or in error. */
  failed: number;
}

export function overviewRun({ run, state, isBaseline, next, states }: Overview): ActionRun {
  return {
    id: run.id,
    name: run.name,
    runName: run.runName ?? undefined,
    note: run.note ?? undefined,
    tags: run.tags,
    state,
    isPartial: run.partial === true,
    isBaseline: isBaseline === true,
    isReplaced: next != null,
    failed: states.failing,
  };
}
