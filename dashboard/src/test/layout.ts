// A fake layout: every element has the size of a window, which makes virtualized tables render their first rows.
import { vi } from 'vitest';

export function mockLayout(width = 1200, height = 640) {
  const owner = ownerOf(document.createElement('div'), 'clientHeight');
  vi.spyOn(owner, 'clientHeight', 'get').mockReturnValue(height);
  vi.spyOn(owner, 'clientWidth', 'get').mockReturnValue(width);
}

/** The prototype with an own property of this name. */
function ownerOf(element: Element, property: string): Element {
  let owner: Element = element;
  while (!Object.hasOwn(owner, property)) owner = Object.getPrototypeOf(owner);
  return owner;
}
