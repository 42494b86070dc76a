// What a run is compared with.
import type { Overview } from '../../../api/types';
import type { ReferenceName } from './run-letter';

/** What the run that others are compared with is called. */
export const referenceName = (run: Overview['run'], id: string | undefined): ReferenceName =>
  id !== undefined && run.baseline?.base.id === id ? 'baseline' : 'reference';

/** A run that is likely to be selected. */
export interface SuggestedRun {
  id: string;
  /** As within a sentence. */
  name: string;
}

/** The previous run and the baseline, unless that is this run. */
export function suggestedRuns({ run, previous }: Overview): SuggestedRun[] {
  const baseline = run.baseline?.base.id;
  return [
    ...(previous == null ? [] : [{ id: previous.id, name: 'previous run' }]),
    ...(baseline === undefined || baseline === run.id ? [] : [{ id: baseline, name: 'baseline' }]),
  ];
}
