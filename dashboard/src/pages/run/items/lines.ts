// The lines of the items table: items, and the headings of their groups. Nothing is stored per item.
import type { ItemGroup } from '../../../api/types';

export type Line = { kind: 'item'; place: number } | { kind: 'group'; group: ItemGroup; isOpen: boolean };

export interface Lines {
  count: number;
  at: (line: number) => Line;
  /** The line of the item at a place among the matching ones; undefined if its group is closed. */
  lineOf: (place: number) => number | undefined;
}

/** Identifies a group among those of one column. */
export const groupKey = ({ value, joined = 0 }: ItemGroup) => (joined > 0 ? 'joined' : JSON.stringify(value));

export function linesOf(
  matching: number,
  groups: ItemGroup[] | null | undefined,
  closed: ReadonlySet<string>,
): Lines {
  if (groups == null) {
    return { count: matching, at: (place) => ({ kind: 'item', place }), lineOf: (place) => place };
  }
  let count = 0;
  const sections = groups.map((group) => {
    const isOpen = !closed.has(groupKey(group));
    const start = count;
    count += 1 + (isOpen ? group.items : 0);
    return { group, isOpen, start };
  });
  return {
    count,
    at: (line) => {
      const section = lastUpTo(sections, ({ start }) => start <= line);
      if (section === undefined) return { kind: 'item', place: line };
      const { group, isOpen, start } = section;
      return line === start
        ? { kind: 'group', group, isOpen }
        : { kind: 'item', place: group.start + line - start - 1 };
    },
    lineOf: (place) => {
      const section = lastUpTo(sections, ({ group }) => group.start <= place);
      return section?.isOpen === true ? section.start + 1 + place - section.group.start : undefined;
    },
  };
}

/** The last element that fulfils a condition which holds for the first ones only. Binary search: a column may have very many values. */
function lastUpTo<T>(elements: T[], holds: (element: T) => boolean): T | undefined {
  let [low, high] = [0, elements.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(elements[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return elements[low - 1];
}
