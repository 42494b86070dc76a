// The tree of a trace's spans, and its rows.
import type { Span } from '../../../../api/types';

export interface SpanNode {
  span: Span;
  /** The index in the trace; damaged files may have duplicate IDs. */
  place: number;
  children: SpanNode[];
}

/** Deeper spans are next to their parent. */
const MAX_DEPTH = 12;

/** The spans at the top, with those below them. Spans whose parents are unknown, or are in a cycle, are at the top. */
export function buildTree(spans: Span[]): SpanNode[] {
  const nodes = spans.map((span, place): SpanNode => ({ span, place, children: [] }));
  const byId = new Map<string, SpanNode>();
  for (const node of nodes) if (!byId.has(node.span.id)) byId.set(node.span.id, node);
  const depths = new Map<SpanNode, number>();
  const lists = new Map<SpanNode, SpanNode[]>();
  const top: SpanNode[] = [];
  for (const node of nodes) {
    const parent = node.span.parent == null ? undefined : byId.get(node.span.parent);
    // Parents come first. A span before its parent is out of order, or in a cycle.
    const depth = parent === undefined ? undefined : depths.get(parent);
    const isAtTop = parent === undefined || depth === undefined;
    const siblings = isAtTop
      ? top
      : depth < MAX_DEPTH
        ? parent.children
        : (lists.get(parent) ?? parent.children);
    siblings.push(node);
    lists.set(node, siblings);
    depths.set(node, isAtTop ? 0 : Math.min(depth + 1, MAX_DEPTH));
  }
  return top;
}

export interface SpanRow extends SpanNode {
  /** From 0. */
  depth: number;
  /** Whether a span that is folded away failed. */
  hidesFailure: boolean;
}

/** The rows of a tree, from top to bottom, without what is below collapsed spans (given by their places). */
export function rowsOf(nodes: SpanNode[], collapsed: ReadonlySet<number>, depth = 0): SpanRow[] {
  return nodes.flatMap((node): SpanRow[] => {
    const isCollapsed = collapsed.has(node.place);
    const row = { ...node, depth, hidesFailure: isCollapsed && node.children.some(hasFailure) };
    return isCollapsed ? [row] : [row, ...rowsOf(node.children, collapsed, depth + 1)];
  });
}

const hasFailure = ({ span, children }: SpanNode): boolean =>
  span.status === 'error' || children.some(hasFailure);

/** The rows of some spans, without their tree. */
export const flatRows = (spans: Span[], isShown: (span: Span) => boolean): SpanRow[] =>
  spans.flatMap((span, place) =>
    isShown(span) ? [{ span, place, children: [], depth: 0, hidesFailure: false }] : [],
  );
