import { expect, test } from 'vitest';
import { compareUrl, redirectCompare } from './compare-url';

test('the second run is compared with the first, and others too', () => {
  expect(compareUrl(['a', 'b'])).toBe('/runs/b?compare=a');
  expect(compareUrl(['a', 'b', 'c'])).toBe('/runs/b?compare=a,c');
  expect(compareUrl(['a'])).toBe('/runs/a');
});

test('former addresses lead to the comparison, with its item and filters', () => {
  const to = (query: string) => redirectCompare(new URLSearchParams(query));
  expect(to('a=A&b=B')).toBe('/runs/B?compare=A');
  expect(to('a=A&b=B&c=C&item=x y&only=regressed&search=s&sort=worst')).toBe(
    '/runs/B?compare=A,C&item=x+y&search=s&only=regressed',
  );
  expect(to('a=A&only=all')).toBe('/runs/A');
  expect(to('a=a%2Fb&b=%3F')).toBe('/runs/%3F?compare=a%2Fb');
  expect(to('')).toBe('/');
});
