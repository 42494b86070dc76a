// Attempts that failed with a transient error and were retried, in words like the terminal's.
import type { Execution, Report } from '../api/types';
import { formatCount, pluralize } from './format';

type Summary = Report['summary'];

/** `3 items, 5 transient failures`; undefined if nothing was retried. */
export function retriedLine({ retriedItems = 0, retriedExecutions = 0 }: Summary): string | undefined {
  if (retriedItems === 0) return undefined;
  return `${pluralize(retriedItems, 'item')}, ${pluralize(retriedExecutions, 'transient failure')}`;
}

/** `2 items passed only after a retry`; undefined if none did. */
export function passedAfterRetryLine({ passedAfterRetry = 0 }: Summary): string | undefined {
  return passedAfterRetry === 0
    ? undefined
    : `${pluralize(passedAfterRetry, 'item')} passed only after a retry`;
}

/** Why the attempts of a trial were retried: each error once, with the number of attempts that ended in it. */
export function retriedErrors({ retried = [] }: Execution): { error: string; times: string | undefined }[] {
  const counts = new Map<string, number>();
  for (const { error = '' } of retried) counts.set(error, (counts.get(error) ?? 0) + 1);
  return [...counts].map(([error, count]) => ({
    error,
    times: count === 1 ? undefined : `${formatCount(count)} times`,
  }));
}
