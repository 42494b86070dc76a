import { describe, expect, test } from 'vitest';
import { report } from '../test/run';
import { passedAfterRetryLine, retriedErrors, retriedLine } from './retries';

const summary = (given: object) => ({ ...report().summary, ...given });

describe('retried attempts', () => {
  test('are counted as in the terminal', () => {
    const some = summary({ retriedItems: 3, retriedExecutions: 1004, passedAfterRetry: 2 });
    expect(retriedLine(some)).toBe('3 items, 1,004 transient failures');
    expect(passedAfterRetryLine(some)).toBe('2 items passed only after a retry');
    expect(retriedLine(summary({}))).toBeUndefined();
    expect(passedAfterRetryLine(summary({ retriedItems: 1, retriedExecutions: 1 }))).toBeUndefined();
  });

  test('list each error once', () => {
    const attempt = (error: string) => ({ error, latencyMs: 1 });
    const execution = { output: { output: 4 }, latencyMs: 1, status: 'ok', evaluations: {} } as const;
    const retried = [attempt('busy'), attempt('gone'), attempt('busy')];
    expect(retriedErrors({ ...execution, retried })).toEqual([
      { error: 'busy', times: '2 times' },
      { error: 'gone', times: undefined },
    ]);
    expect(retriedErrors(execution)).toEqual([]);
  });
});
