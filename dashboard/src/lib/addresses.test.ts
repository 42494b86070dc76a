import { expect, test } from 'vitest';
import { comparisonOf } from './addresses';

test('the second run is compared with the first, and others too', () => {
  expect(comparisonOf(['a', 'b'])).toBe('/runs/b?compare=a');
  expect(comparisonOf(['a', 'b', 'c'])).toBe('/runs/b?compare=a,c');
  expect(comparisonOf(['a'])).toBe('/runs/a');
});
