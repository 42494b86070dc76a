import { describe, expect, test } from 'vitest';
import { ago, cost, counted, duration, edgeOfDay, fixed, percent, score, signed } from './format';

describe('figures', () => {
  test('time spans have the unit in which they are short', () => {
    const spans = [0, 0.028, 4.2, 310, 1840, 42_000, 252_000, 7_500_000].map(duration);
    expect(spans).toEqual(['0 ms', '28 µs', '4.2 ms', '310 ms', '1.84 s', '42.0 s', '4 m 12 s', '2 h 5 m']);
  });

  test('small costs keep two digits that count', () => {
    expect([0, 0.00213, 0.25, 1.25].map(cost)).toEqual(['$0.00', '$0.0021', '$0.250', '$1.25']);
  });

  test('ties are rounded to the even digit, as in the terminal', () => {
    expect([0.0625, 0.8125, 0.9375].map(score)).toEqual(['0.062', '0.812', '0.938']);
    expect([0.5, 1.5, 2.5, 1378.5].map((value) => fixed(value, 0))).toEqual(['0', '2', '2', '1378']);
    expect(
      [1.005, 1.015].map((value) => fixed(value, 2)),
      'these are no ties',
    ).toEqual(['1.00', '1.01']);
  });

  test('a difference that rounds to nothing has no sign', () => {
    expect([0.0421, -0.1, -0.0001].map((value) => signed(value))).toEqual(['+0.042', '−0.100', '0.000']);
  });

  test('shares and counts', () => {
    expect(percent(0.95)).toBe('95.0 %');
    expect([counted(1, 'item'), counted(12_345, 'item')]).toEqual(['1 item', '12,345 items']);
  });

  test('what is old has its date', () => {
    const now = Date.parse('2026-02-05T12:00:00Z');
    expect(ago('2026-02-05T11:59:30Z', now)).toBe('just now');
    expect(ago('2026-02-05T09:00:00Z', now)).toBe('3 h ago');
    expect(ago('2026-01-01T12:00:00Z', now)).toBe('2026-01-01');
  });

  test('a day begins and ends where the browser is', () => {
    expect(edgeOfDay('2026-02-05', 'start')).toBe(new Date(2026, 1, 5).toISOString());
    expect(edgeOfDay('2026-02-05', 'end')).toBe(new Date(2026, 1, 5, 23, 59, 59, 999).toISOString());
    expect(edgeOfDay('last week', 'end')).toBe('last week');
  });
});
