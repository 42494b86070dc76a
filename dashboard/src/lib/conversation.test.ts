import { expect, test } from 'vitest';
import type { Span } from '../api/types';
import { turn, userUsage } from '../test/conversation';
import { formatUserCost, toolSpansOf, userCalls, userMark } from './conversation';

test('the usage of simulated users reads as in the terminal', () => {
  expect(userCalls(userUsage({ cached: 2, replayed: 1 }))).toBe(
    '3 calls, 2 cached, 1 replayed, 1,000 tokens, gpt-5.4-nano',
  );
  expect(formatUserCost(userUsage())).toBe('$0.0012');
  expect(formatUserCost(userUsage({ cost: 0 }))).toBe('$0.00');
  expect(formatUserCost(userUsage({ cost: 0, unpriced: ['ours'] }))).toBe('unknown');
});

test('a cost of answers that were replayed is marked', () => {
  expect(userMark(userUsage())).toBeUndefined();
  expect(userMark(userUsage({ calls: 0, replayed: 3 }))).toBe('as recorded');
  expect(userMark(userUsage({ replayed: 3, replayedCost: 0.25 }))).toBe('of which $0.25 as recorded');
  expect(userMark(userUsage({ replayed: 3 }))).toBe('as recorded in part');
  expect(userMark(userUsage({ calls: 0, replayed: 3, cost: 0, unpriced: ['ours'] }))).toBeUndefined();
});

test('the tool calls of a turn are those of its time in the trace, if they are the ones that it names', () => {
  const call = (name: string, startMs: number): Span => ({
    id: name,
    name: `execute_tool ${name}`,
    kind: 'tool',
    startMs,
    durationMs: 5,
    status: 'ok',
    tool: { name },
  });
  const spans = [call('search', 10), call('price', 20), call('book', 100)];
  const first = turn({ startMs: 0, latencyMs: 100, toolCalls: ['price', 'search'] });
  expect(toolSpansOf(first, spans).map(({ id }) => id)).toEqual(['search', 'price']);
  expect(toolSpansOf({ ...first, toolCalls: ['price'] }, spans)).toEqual([]);
  expect(toolSpansOf(turn({ startMs: 100, latencyMs: 50, toolCalls: ['book'] }), spans)).toHaveLength(1);
});
