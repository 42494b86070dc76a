import { describe, expect, test } from 'vitest';
import type { Span } from '../../../../api/types';
import { actionOf } from './keys';
import { barOf, timelineOf } from './timeline';
import { buildTree, rowsOf } from './tree';

const span = (id: string, parent?: string, startMs = 0, durationMs = 10): Span => ({
  id,
  parent,
  name: id,
  kind: 'other',
  startMs,
  durationMs,
  status: 'ok',
});

const tree = buildTree([span('a'), span('b', 'a'), span('c', 'b'), span('d', 'a'), span('e')]);

describe('a key in the waterfall', () => {
  const press = (key: string, active: number, collapsed: number[] = []) => {
    const folded = new Set(collapsed);
    return actionOf(key, { rows: rowsOf(tree, folded), active, collapsed: folded, page: 3 });
  };

  test.each([
    ['ArrowDown', 4, 4],
    ['ArrowUp', 0, 0],
    ['PageDown', 0, 3],
    ['Home', 3, 0],
    ['End', 0, 4],
    ['ArrowRight', 1, 2],
    ['ArrowLeft', 3, 0],
    ['ArrowLeft', 2, 1],
  ])('%s goes from row %i to row %i', (key, from, to) => {
    expect(press(key, from)).toEqual({ type: 'go', index: to });
  });

  test('collapses and expands a span with others below it', () => {
    expect(press('ArrowLeft', 1)).toEqual({ type: 'toggle' });
    expect(press('ArrowRight', 1, [1])).toEqual({ type: 'toggle' });
    expect(press('ArrowRight', 4)).toBeUndefined();
  });
});

describe('the time axis', () => {
  test('spans all spans, and a bar has its share', () => {
    const spans = [span('a', undefined, 100, 50), span('b', undefined, 150, 150)];
    const timeline = timelineOf(spans);
    expect(timeline).toEqual({ startMs: 100, durationMs: 200 });
    expect(spans.map((one) => barOf(one, timeline))).toEqual([
      { left: 0, width: 25 },
      { left: 25, width: 75 },
    ]);
  });

  test('has a length even if no span has one', () => {
    const timeline = timelineOf([span('a', undefined, 5, 0)]);
    expect(barOf(span('a', undefined, 5, 0), timeline)).toEqual({ left: 0, width: 0 });
  });

  test('keeps bars of absurd spans on the axis', () => {
    const timeline = timelineOf([span('a', undefined, -1e308, 1e308), span('b', undefined, 1e308, 1e308)]);
    expect(barOf(span('b', undefined, 1e308, 1e308), timeline).left).toBeLessThanOrEqual(100);
  });
});
