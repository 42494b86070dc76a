import { describe, expect, test } from 'vitest';
import type { Span } from '../../../../api/types';
import { buildTree, type SpanNode } from './tree';

const span = (id: string, parent?: string): Span => ({
  id,
  parent,
  name: id,
  kind: 'other',
  startMs: 0,
  durationMs: 1,
  status: 'ok',
});

const outline = (nodes: SpanNode[]): unknown[] =>
  nodes.map(({ span, children }) => (children.length > 0 ? [span.id, outline(children)] : span.id));

describe('the tree of a trace', () => {
  test('has each span below its parent', () => {
    const tree = buildTree([span('a'), span('b', 'a'), span('c', 'b'), span('d', 'a'), span('e')]);
    expect(outline(tree)).toEqual([['a', [['b', ['c']], 'd']], 'e']);
  });

  test('has each span once, even if its parent is unknown or in a cycle', () => {
    const tree = buildTree([span('a', 'gone'), span('b', 'c'), span('c', 'b'), span('d', 'd'), span('a')]);
    expect(outline(tree)).toEqual(['a', ['b', ['c']], 'd', 'a']);
  });

  test('is not deeper than what can be drawn', () => {
    const spans = Array.from({ length: 5000 }, (_, id) => span(`${id}`, id === 0 ? undefined : `${id - 1}`));
    const depth = (nodes: SpanNode[]): number =>
      Math.max(0, ...nodes.map((node) => 1 + depth(node.children)));
    const count = (nodes: SpanNode[]): number =>
      nodes.reduce((sum, node) => sum + 1 + count(node.children), 0);
    const tree = buildTree(spans);
    expect([depth(tree), count(tree)]).toEqual([13, 5000]);
  });
});
