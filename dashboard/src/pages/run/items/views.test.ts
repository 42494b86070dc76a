import { expect, test } from 'vitest';
import { viewQuery, withView } from './views';

const query = (text: string) => viewQuery(new URLSearchParams(text));

test('a view has the filters and the layout, in one order', () => {
  expect(query('state=low&columns=key,cost&item=a&span=2&compare=b&only=regressed&details=open')).toBe(
    'columns=key%2Ccost&state=low',
  );
  expect(query('sort=cost&state=low')).toBe(query('state=low&sort=cost'));
  expect(query('where=b%3D1&where=a%3D1')).toBe('where=b%3D1&where=a%3D1');
});

test('opening a view replaces the filters and closes the item, and keeps the comparison', () => {
  const now = new URLSearchParams('compare=b&item=a&tab=trace&state=error&sort=cost');
  expect(withView(now, 'state=low')).toBe('state=low&compare=b');
});
