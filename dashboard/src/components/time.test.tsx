import { act, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { Time } from './time';

afterEach(() => {
  vi.useRealTimers();
});

test('a relative time is updated while it is shown', () => {
  vi.useFakeTimers({ now: Date.parse('2026-02-05T10:00:20Z') });
  render(<Time timestamp="2026-02-05T10:00:00Z" />);
  expect(screen.getByText('just now')).toBeVisible();
  act(() => vi.advanceTimersByTime(5 * 60_000));
  expect(screen.getByText(/^[45] min ago$/)).toBeVisible();
});
