// Single-key shortcuts of a page. They are off while the user types or a dialog is open.
import { useEffect } from 'react';

/** Handlers by `KeyboardEvent.key`. */
export type KeyHandlers = Record<string, (event: KeyboardEvent) => void>;

const FIELDS = 'input:not([type=checkbox]), textarea, select, [contenteditable=true]';

function isTyping({ target }: KeyboardEvent) {
  return target instanceof Element && target.closest(FIELDS) !== null;
}

export function useKeys(keys: KeyHandlers) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (
        isTyping(event) ||
        document.querySelector(
          '[role=dialog][data-open], [role=menu][data-open], [role=combobox][aria-expanded=true]',
        ) !== null
      )
        return;
      keys[event.key]?.(event);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [keys]);
}
