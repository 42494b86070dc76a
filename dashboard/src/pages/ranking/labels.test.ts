import { expect, test } from 'vitest';
import { costTicks, placeLabels } from './labels';
import type { Point } from './pareto';

function point(label: string, cost: number, score: number, isOnFront = false): Point {
  return { id: label, label, cost, score, ci95: undefined, isOnFront };
}

function place(...points: Point[]) {
  const labels = placeLabels(points, ({ label }) => label, [10, 0, 1]);
  return points.map(({ id }) => labels.get(id)?.corner);
}

test('a label is above its point, on the right', () => {
  expect(place(point('a', 1, 0.5), point('b', 8, 0.5))).toEqual(['above right', 'above right']);
});

test('points beside each other have their labels in different corners', () => {
  expect(place(point('first', 5, 0.5), point('second', 5.1, 0.5))).toEqual(['above right', 'below right']);
});

test('a label does not leave the plot', () => {
  expect(place(point('a long name', 10, 0.5), point('low', 1, 0.01))).toEqual(['above left', 'above right']);
});

test('a label without room is left out, and those on the front come first', () => {
  const points = ['one', 'two', 'three', 'four', 'five'].map((name) => point(name, 5, 0.5));
  const corners = place(...points, point('front', 5, 0.5, true));
  expect(corners.filter((corner) => corner === undefined)).toHaveLength(2);
  expect(corners.at(-1)).toBe('above right');
});

test('the ticks of costs are round and leave room for a label', () => {
  expect(costTicks(634.62)).toEqual([0, 200, 400, 600, 800]);
  expect(costTicks(1)).toEqual([0, 0.5, 1, 1.5]);
  expect(costTicks(0)).toEqual([0, 1]);
  for (const highest of [0.0003, 0.7, 9.9, 38, 1234]) {
    const ticks = costTicks(highest);
    expect(ticks.at(-1)).toBeGreaterThan(highest);
    expect(ticks.length).toBeLessThan(7);
  }
});
