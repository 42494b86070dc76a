import { expect, test } from 'vitest';
import { redirectCompare } from './former-comparison';

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
