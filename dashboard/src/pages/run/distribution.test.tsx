import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { Distribution, widerBins } from './distribution';

test('scores of 1 reach a pass mark of 1', () => {
  render(
    <Distribution
      name="calls"
      bins={[1, 0, 0, 2]}
      passMark={1}
      height={24}
      isShown={() => false}
      onRange={() => {}}
    />,
  );
  expect(
    screen.getByRole('button', { name: '1 item from 0.00 to 0.25, below pass mark: show items' }),
  ).toBeVisible();
  expect(screen.getByRole('button', { name: '2 items from 0.75 to 1.00: show items' })).toBeVisible();
});

test('bins are joined unless one would be on both sides of the pass mark', () => {
  expect(widerBins([1, 2, 3, 4], undefined)).toEqual([3, 7]);
  expect(widerBins([1, 2, 3, 4], 0.5)).toEqual([3, 7]);
  expect(widerBins([1, 2, 3, 4], 0.75)).toEqual([1, 2, 3, 4]);
});
