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
