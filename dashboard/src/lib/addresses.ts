// The addresses of the pages.
import { buildUrl } from '../api/client';

const encode = encodeURIComponent;

export const ALL_RUNS = '/?view=runs';

export const runUrl = (id: string) => `/runs/${encode(id)}`;

/** The variants that ran together. */
export const groupUrl = (group: string) => `/groups/${encode(group)}`;

export type ExperimentTab = 'runs' | 'trends';

export const experimentUrl = (name: string, tab: ExperimentTab = 'runs') =>
  buildUrl(`/experiments/${encode(name)}`, { tab: tab === 'runs' ? undefined : tab });

/** Compares a run, and optionally others, with a reference. */
export const comparisonUrl = (
  id: string,
  references: string[],
  only?: 'regressed' | 'improved' | 'changed',
) => `${runUrl(id)}?compare=${references.map(encode).join()}${only === undefined ? '' : `&only=${only}`}`;

/** The maximum number of runs to compare or rank. */
export const MAX_COMPARED = 8;

/** Runs compared with the first, the reference: the items of the second run in compare mode. */
export function comparisonOf([reference = '', run, ...others]: string[]): string {
  return run === undefined ? runUrl(reference) : comparisonUrl(run, [reference, ...others]);
}

/** The ranking of these runs. */
export const rankingUrl = (ids: string[]) => `/ranking?${new URLSearchParams({ runs: ids.join() })}`;
