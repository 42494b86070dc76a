import { expect, test } from 'vitest';
import type { ItemGroup } from '../../../api/types';
import { groupKey, linesOf } from './lines';

const group = (value: string | null, start: number, items: number): ItemGroup => ({
  value,
  start,
  items,
  passed: items,
  belowPassMark: 0,
  errors: 0,
  scores: {},
});

const groups = [group('a', 0, 3), group('b', 3, 2), group(null, 5, 1)];

const shown = (lines: ReturnType<typeof linesOf>) =>
  Array.from({ length: lines.count }, (_, index) => {
    const line = lines.at(index);
    return line.kind === 'item' ? line.place : line.group.value;
  });

test('without groups, a line is an item', () => {
  const lines = linesOf(3, undefined, new Set());
  expect(shown(lines)).toEqual([0, 1, 2]);
  expect(lines.lineOf(2)).toBe(2);
});

test('groups have a heading above their items', () => {
  const lines = linesOf(6, groups, new Set());
  expect(shown(lines)).toEqual(['a', 0, 1, 2, 'b', 3, 4, null, 5]);
  expect([0, 2, 3, 5].map(lines.lineOf)).toEqual([1, 3, 5, 8]);
});

test('the group of all smaller groups is another than that of items without a value', () => {
  const joined = { ...group(null, 5, 40), joined: 40 };
  expect(groupKey(joined)).not.toBe(groupKey(group(null, 45, 1)));
  const lines = linesOf(46, [...groups.slice(0, 2), joined, group(null, 45, 1)], new Set([groupKey(joined)]));
  expect(shown(lines)).toEqual(['a', 0, 1, 2, 'b', 3, 4, null, null, 45]);
});

test('a closed group has only its heading', () => {
  const lines = linesOf(6, groups, new Set([groupKey(group('a', 0, 3)), groupKey(group(null, 5, 1))]));
  expect(shown(lines)).toEqual(['a', 'b', 3, 4, null]);
  expect([0, 3, 5].map(lines.lineOf)).toEqual([undefined, 2, undefined]);
});
