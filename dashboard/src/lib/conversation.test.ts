import { expect, test } from 'vitest';
import { userUsage } from '../test/conversation';
import { formatUserCost, userCalls, userMark } from './conversation';

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
  expect(userMark(userUsage({ replayed: 3, replayedCost: 0.25 }))).toBe('of which $0.250 as recorded');
  expect(userMark(userUsage({ replayed: 3 }))).toBe('as recorded in part');
  expect(userMark(userUsage({ calls: 0, replayed: 3, cost: 0, unpriced: ['ours'] }))).toBeUndefined();
});
