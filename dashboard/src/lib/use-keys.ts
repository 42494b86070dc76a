// Single keys that do something on a page, as long as nobody is typing and no dialog is open.
import { useEffect } from 'react';

/** What each key does, by the name that the browser gives it. */
export type Keys = Record<string, (event: KeyboardEvent) => void>;

const FIELDS = 'input:not([type=checkbox]), textarea, select, [contenteditable=true]';

function isForTheField({ target }: KeyboardEvent) {
  return target instanceof Element && target.closest(FIELDS) !== null;
}

export function useKeys(keys: Keys) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isForTheField(event) || document.querySelector('dialog[open]') !== null) return;
      keys[event.key]?.(event);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [keys]);
}
