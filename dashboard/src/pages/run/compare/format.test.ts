import { expect, test } from 'vitest';
import type { Difference } from '../../../api/types';
import { comparison, difference } from '../../../test/comparison';
import { explainDifference, matchedItems, noChangeText, notableVerdicts } from './explain';
import { formatInterval, formatPValue, formatSignedValue, formatValue } from './format';

const formatted = (quantity: Difference['quantity'], base: number, other: number) => {
  const of = { quantity, base, other };
  return [formatValue(of, base), formatValue(of, other), formatSignedValue(of, other - base)];
};

test('each quantity has its unit', () => {
  expect(formatted('score', 1, 0.75)).toEqual(['1.000', '0.750', '−0.250']);
  expect(formatted('errors', 0, 0.025)).toEqual(['0.0%', '2.5%', '+2.5%']);
  expect(formatted('latency', 0.5, 0.25)).toEqual(['500 µs', '250 µs', '−250 µs']);
  expect(formatted('latency', 120, 84.4)).toEqual(['120 ms', '84 ms', '−36 ms']);
  expect(formatted('latency', 900, 1350)).toEqual(['0.90 s', '1.35 s', '+0.45 s']);
  expect(formatted('tokens', 1200, 1234.6)).toEqual(['1,200', '1,235', '+35']);
  expect(formatted('cost', 0.00042, 0.0004)).toEqual(['$0.00042', '$0.00040', '−$0.00002']);
  expect(formatted('cost', 1.5, 1.25)).toEqual(['$1.50', '$1.25', '−$0.25']);
});

test('ties are rounded as in the terminal', () => {
  expect(formatted('tokens', 1378.5, 1349)).toEqual(['1,378', '1,349', '−30']);
  expect(formatted('cost', 1.005, 1.25)).toEqual(['$1.00', '$1.25', '+$0.25']);
});

test('a value that rounds to 0 has no sign', () => {
  expect([formatted('score', 0.5, 0.49999)[2], formatted('score', 0.5, 0.50001)[2]]).toEqual([
    '0.000',
    '0.000',
  ]);
});

test('a CI has its unit once', () => {
  const of = (quantity: Difference['quantity'], base: number, low: number, high: number) =>
    formatInterval(difference({ quantity, base, other: base, ci95: { low, high } }));
  expect(of('cost', 1, -0.01, 0.02)).toBe('−0.01 to +0.02');
  expect(of('latency', 100, -12, 340)).toBe('−12 to +340 ms');
  expect(formatInterval(difference({ ci95: null }))).toBeUndefined();
});

test('a p-value is never rounded up to 0.050', () => {
  expect([0.00099, 0.001, 0.04996, 0.05, 1].map(formatPValue)).toEqual([
    '<0.001',
    '0.001',
    '0.04996',
    '0.050',
    '1.000',
  ]);
});

test('an inconclusive difference names the sample size needed', () => {
  const open = difference({
    verdict: 'inconclusive',
    smallestDetectable: 0.7,
    settledBy: { items: 1200, runs: 6 },
    items: 4,
    clusters: 2,
    better: 0,
    worse: 1,
    equal: 3,
    unmeasured: 1,
  });
  expect(explainDifference(open)).toBe(
    '4 items in 2 clusters: 1 worse, 3 equal; 1 more not measured in both runs; min detectable difference ' +
      '(80% power): 0.700; about 1,200 items (or 6 trials per item) needed',
  );
});

test('a metric has the typical ratio of an item', () => {
  const ratio = { ratio: 1.1, ci95: { low: 1.046, high: 1.154 } };
  expect(explainDifference(difference({ quantity: 'latency', ratio }))).toBe(
    '12 items: 1 better, 8 worse, 3 equal; typical ratio ×1.10 (95% CI 1.05 to 1.15)',
  );
});

test('a clear verdict is explained by the item counts', () => {
  expect(explainDifference(difference())).toBe('12 items: 1 better, 8 worse, 3 equal');
});

test('regressions come first, and noise is omitted', () => {
  const found = comparison({
    evaluators: [
      difference({ name: 'tone', verdict: 'better' }),
      difference(),
      difference({ name: 'length', verdict: 'within-noise' }),
    ],
  });
  expect(notableVerdicts(found)).toEqual([
    { verdict: 'worse', names: ['correctness'] },
    { verdict: 'better', names: ['tone'] },
  ]);
});

test('no significant difference and no common score are stated', () => {
  const noise = [difference({ verdict: 'within-noise' })];
  expect(noChangeText(comparison({ evaluators: noise }))).toContain('within noise');
  expect(noChangeText(comparison({ evaluators: [] }))).toContain('no score or metric is in both runs');
});

test('items in only one run are listed, up to three', () => {
  const items = { matched: 9, changed: ['x'], added: ['y'], removed: ['a', 'b', 'c', 'd', 'e'] };
  expect(matchedItems(items, 'the reference', 'this run')).toBe(
    '9 items in both. Input changed: x. Only in the reference: a, b, c, 2 more. Only in this run: y',
  );
});
