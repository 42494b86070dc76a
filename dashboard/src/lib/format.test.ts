import { describe, expect, test } from 'vitest';
import {
  costFormat,
  dayBoundary,
  formatCost,
  formatDateTime,
  formatDuration,
  formatFixed,
  formatNumber,
  formatPercent,
  formatScore,
  formatSigned,
  formatWithUnit,
  pluralize,
  timeAgo,
} from './format';

describe('formatting', () => {
  test('durations use the unit in which they are short', () => {
    const spans = [0, 0.028, 4.2, 310, 1840, 42_000, 252_000, 7_500_000].map(formatDuration);
    expect(spans).toEqual(['0 ms', '28 µs', '4.2 ms', '310 ms', '1.84 s', '42.0 s', '4 m 12 s', '2 h 5 m']);
  });

  test('durations are rounded, with a carry to the next unit', () => {
    const durations = [0.9996, 9.96, 999.6, 9996, 59_960, 119_600, 3_599_600, 7_199_000].map(formatDuration);
    expect(durations).toEqual([
      '1.0 ms',
      '10 ms',
      '1.00 s',
      '10.0 s',
      '1 m 0 s',
      '2 m 0 s',
      '1 h 0 m',
      '2 h 0 m',
    ]);
  });

  test('costs have cents, and two significant digits', () => {
    const costs = [0, 0.0000012, 0.00213, 0.25, 1.25, 1234.5].map(formatCost);
    expect(costs).toEqual(['$0.00', '$0.0000012', '$0.0021', '$0.25', '$1.25', '$1,234.50']);
  });

  test('costs beside each other have the same decimals, enough for the smallest', () => {
    const costs = [0.0015, undefined, 0.138, 0, null];
    expect([0.0015, 0.138, 0].map(costFormat(costs))).toEqual(['$0.0015', '$0.1380', '$0.0000']);
    expect([1.5, 12].map(costFormat([1.5, 12]))).toEqual(['$1.50', '$12.00']);
    expect([0.00000012, 0.25].map(costFormat([0.00000012, 0.25]))).toEqual(['$0.00000012', '$0.250000']);
  });

  test('numbers of any size are as in the terminal, with their units', () => {
    const numbers = [0, -0, 7, 12_400.5, 0.84444, 0.01, 0.001234, -0.00005, 1e-9, 1e20].map(formatNumber);
    expect(numbers).toEqual([
      '0',
      '0',
      '7',
      '12,400.5',
      '0.844',
      '0.01',
      '0.0012',
      '-0.00005',
      '1e-9',
      '1e20',
    ]);
    expect([formatWithUnit(7.5, 'documents'), formatWithUnit(12.5, '%'), formatWithUnit(3, null)]).toEqual([
      '7.5 documents',
      '12.5%',
      '3',
    ]);
  });

  test('ties are rounded to even, as in the terminal', () => {
    expect([0.0625, 0.8125, 0.9375].map(formatScore)).toEqual(['0.062', '0.812', '0.938']);
    expect([0.5, 1.5, 2.5, 1378.5].map((value) => formatFixed(value, 0))).toEqual(['0', '2', '2', '1378']);
    expect(
      [1.005, 1.015].map((value) => formatFixed(value, 2)),
      'not ties',
    ).toEqual(['1.00', '1.01']);
  });

  test('a difference that rounds to 0 has no sign', () => {
    expect([0.0421, -0.1, -0.0001].map((value) => formatSigned(value))).toEqual([
      '+0.042',
      '−0.100',
      '0.000',
    ]);
  });

  test('percentages and counts', () => {
    expect([0.95, 2 / 3, 0, 1, 0.0004, 0.9996].map(formatPercent)).toEqual([
      '95%',
      '66.7%',
      '0%',
      '100%',
      '0.04%',
      '99.96%',
    ]);
    expect([pluralize(1, 'item'), pluralize(12_345, 'item')]).toEqual(['1 item', '12,345 items']);
  });

  test('an age of 7 days or more is a date with its time', () => {
    const now = Date.parse('2026-02-05T12:00:00Z');
    expect(timeAgo('2026-02-05T11:59:30Z', now)).toBe('just now');
    expect(timeAgo('2026-02-05T09:00:00Z', now)).toBe('3 h ago');
    expect(timeAgo('2026-01-01T12:00:00Z', now)).toBe(formatDateTime('2026-01-01T12:00:00Z'));
    expect(timeAgo('2026-01-01T12:00:00Z', now)).toMatch(/^2026-01-01 \d\d:00$/);
  });

  test('a day begins and ends in the time zone of the browser', () => {
    expect(dayBoundary('2026-02-05', 'start')).toBe(new Date(2026, 1, 5).toISOString());
    expect(dayBoundary('2026-02-05', 'end')).toBe(new Date(2026, 1, 5, 23, 59, 59, 999).toISOString());
    expect(dayBoundary('last week', 'end')).toBe('last week');
  });
});
