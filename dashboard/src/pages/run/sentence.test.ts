import { describe, expect, test } from 'vitest';
import type { Overview, ThresholdOutcome } from '../../api/types';
import { overview, report } from '../../test/run';
import { missedThresholds, runSentence } from './sentence';

/** No item is both below a pass mark and in error. */
const sentence = (given: Partial<Overview> & Pick<Overview, 'states'>) => {
  const run = given.run ?? report();
  const summary = { ...run.summary, lowItems: given.states.low };
  const { verdict, reasons } = runSentence(overview({ ...given, run: { ...run, summary } }));
  return `${verdict}: ${reasons}`;
};

const states = (given: Partial<Overview['states']>): Overview['states'] => ({
  passed: 12,
  failing: 0,
  low: 0,
  error: 0,
  timeout: 0,
  evalError: 0,
  diverged: 0,
  retried: 0,
  ...given,
});

const outcome = (name: string, finding: ThresholdOutcome['finding'], passed = finding !== 'missed') => ({
  name,
  finding,
  passed,
  message: '',
});

const decided = (passed: boolean, thresholds: ThresholdOutcome[]) =>
  report({ passed, ciStatus: { passed, summary: '', violations: [], thresholds } });

describe('the sentence', () => {
  test('of a failed run counts missed thresholds and items below pass mark', () => {
    const run = decided(false, [outcome('a>1', 'missed'), outcome('b>1', 'met'), outcome('c>1', 'missed')]);
    expect(sentence({ run, states: states({ passed: 4, failing: 8, low: 8 }) })).toBe(
      'Failed: 2 of 3 thresholds missed; 8 of 12 items below pass mark',
    );
  });

  test('of a run that met its thresholds does not say that all items passed', () => {
    const run = decided(true, [outcome('a>1', 'met'), outcome('b>1', 'inconclusive')]);
    expect(sentence({ run, states: states({ passed: 4, failing: 8, low: 8 }) })).toBe(
      'Passed: 1 of 2 thresholds met; 1 inconclusive; 8 of 12 items below pass mark',
    );
    expect(sentence({ run, states: states({}) })).toMatch(/; all 12 items at their pass marks$/);
  });

  test('of a strict run that failed says that it is strict', () => {
    const config = { ...report().config, strict: true };
    const run = report({ passed: false, config });
    expect(sentence({ run, states: states({ passed: 9, failing: 3, low: 3 }) })).toBe(
      'Failed: 3 of 12 items below pass mark, and the experiment is strict',
    );
  });

  test('of a run without thresholds says that none are set', () => {
    expect(sentence({ states: states({ passed: 9, failing: 3, low: 3 }) })).toBe(
      'Passed: no thresholds set; 3 of 12 items below pass mark',
    );
  });

  test('of a run with errors names them first', () => {
    const summary = { ...report().summary, failedItems: 3, timeouts: 1, evalErrors: 1 };
    expect(sentence({ run: report({ summary }), states: states({ passed: 8, failing: 4, error: 2 }) })).toBe(
      'Error: 2 agent errors; 1 timeout; 1 scoring error; no thresholds set',
    );
  });

  test('of an unfinished run has its progress', () => {
    const config = { ...report().config, thresholds: ['a>1'] };
    const given = { state: 'running', finishedItems: 5, plannedItems: 40, run: report({ config }) } as const;
    expect(sentence({ ...given, states: states({ passed: 5 }) })).toMatch(/^Running: 5 of 40 items finished/);
  });
});

test('an inconclusive threshold is missed only if it fails the run', () => {
  const run = decided(false, [outcome('a>1', 'inconclusive', false), outcome('b>1', 'inconclusive', true)]);
  expect(missedThresholds(run).map(({ name }) => name)).toEqual(['a>1']);
});
