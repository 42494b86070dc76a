import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { Sparkline, type SparkPoint, sparkScale } from './sparkline';

const point = (score: number, half: number): SparkPoint => ({ score, low: score - half, high: score + half });

/** The heights of the points of the line. */
const heights = (container: HTMLElement) =>
  (container.querySelector('polyline')?.getAttribute('points') ?? '')
    .split(' ')
    .map((place) => Number(place.split(',')[1]));

test('the scale is narrower than 0 to 1 if the intervals are', () => {
  expect(sparkScale([point(0.8, 0.02), point(0.84, 0.02)])).toEqual({ low: 0.7, high: 1 });
  expect(sparkScale([point(0.95, 0.02), point(0.98, 0.02)])).toEqual({ low: 0.8, high: 1 });
  expect(sparkScale([point(0.5, 0.2), point(0.6, 0.2)])).toEqual({ low: 0, high: 1 });
});

test('the scale holds every interval', () => {
  const scale = sparkScale([point(0.3, 0.01), point(0.9, 0.01)]);
  expect(scale.low).toBeLessThanOrEqual(0.29);
  expect(scale.high).toBeGreaterThanOrEqual(0.91);
});

test('without intervals the scale is from 0 to 1', () => {
  expect(sparkScale([{ score: 0.84 }, { score: 0.85 }])).toEqual({ low: 0, high: 1 });
  expect(sparkScale([point(0.84, 0.01), { score: 0.85, low: null, high: null }])).toEqual({
    low: 0,
    high: 1,
  });
});

test('a change within the interval looks flat, and a real one does not', () => {
  const height = 40;
  const noise = render(
    <Sparkline height={height} label="noise" points={[point(0.85, 0.04), point(0.815, 0.04)]} />,
  );
  const [first = 0, second = 0] = heights(noise.container);
  expect(Math.abs(first - second)).toBeLessThan(height / 8);

  const drop = render(
    <Sparkline height={height} label="drop" points={[point(0.95, 0.02), point(0.55, 0.02)]} />,
  );
  const [before = 0, after = 0] = heights(drop.container);
  expect(after - before).toBeGreaterThan(height / 2);
});

test('the scale is named, and written beside the line on request', () => {
  render(<Sparkline hasScale label="Mean scores" points={[point(0.95, 0.02), null, point(0.98, 0.02)]} />);
  expect(screen.getByRole('img', { name: 'Mean scores, on a scale from 0.8 to 1' })).toBeVisible();
  expect(screen.getByText('0.8')).toBeVisible();
});

test('a single score has no line', () => {
  const { container } = render(<Sparkline label="Mean scores" points={[null, { score: 0.5 }]} />);
  expect(container).toBeEmptyDOMElement();
});
