// A layout for tests, since there is none: every element is as large as a window, so that tables draw their first rows.
import { vi } from 'vitest';

export function mockLayout(width = 1200, height = 640) {
  const owner = ownerOf(document.createElement('div'), 'clientHeight');
  vi.spyOn(owner, 'clientHeight', 'get').mockReturnValue(height);
  vi.spyOn(owner, 'clientWidth', 'get').mockReturnValue(width);
}

/** The prototype that has a property itself. */
function ownerOf(element: Element, property: string): Element {
  let owner: Element = element;
  while (!Object.hasOwn(owner, property)) owner = Object.getPrototypeOf(owner);
  return owner;
}
