// What a key does in the waterfall: as in other trees of rows.
import type { SpanRow } from './tree';

export type Action =
  /** Makes another row the active one. */
  | { type: 'go'; index: number }
  /** Collapses or expands the active row. */
  | { type: 'toggle' }
  /** Shows the span of the active row. */
  | { type: 'select' };

interface Position {
  rows: SpanRow[];
  /** The index of the active row. */
  active: number;
  collapsed: ReadonlySet<number>;
  /** The number of visible rows. */
  page: number;
}

export function actionOf(key: string, { rows, active, collapsed, page }: Position): Action | undefined {
  const row = rows[active];
  if (row === undefined) return undefined;
  const hasChildren = row.children.length > 0;
  const isOpen = hasChildren && !collapsed.has(row.place);
  const go = (index: number): Action => ({
    type: 'go',
    index: Math.min(Math.max(index, 0), rows.length - 1),
  });
  switch (key) {
    case 'ArrowDown':
      return go(active + 1);
    case 'ArrowUp':
      return go(active - 1);
    case 'PageDown':
      return go(active + page);
    case 'PageUp':
      return go(active - page);
    case 'Home':
      return go(0);
    case 'End':
      return go(rows.length - 1);
    case 'ArrowRight':
      if (isOpen) return go(active + 1);
      return hasChildren ? { type: 'toggle' } : undefined;
    case 'ArrowLeft':
      return isOpen ? { type: 'toggle' } : go(parentOf(rows, active));
    case 'Enter':
    case ' ':
      return { type: 'select' };
    default:
      return undefined;
  }
}

/** The index of the row's parent; its own at the top. */
function parentOf(rows: SpanRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  for (let above = index - 1; above >= 0; above -= 1) {
    if ((rows[above]?.depth ?? 0) < depth) return above;
  }
  return index;
}
