import { expect, test } from 'vitest';
import { compareValues } from './sort-values';

test('values are sorted in both orders, with unknown ones last', () => {
  const values = [2, undefined, 10, null, 1];
  expect(values.toSorted((one, other) => compareValues(one ?? null, other ?? null, 'asc'))).toEqual([
    1,
    2,
    10,
    null,
    undefined,
  ]);
  expect([2, null, 10].toSorted((one, other) => compareValues(one, other, 'desc'))).toEqual([10, 2, null]);
});
