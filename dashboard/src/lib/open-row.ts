// Opens what a row is about on a click on it, like a link.
import type { MouseEvent } from 'react';
import type { NavigateFunction } from 'react-router';

/** Elements with their own click behaviour. */
const INTERACTIVE = 'a, button, input, label, summary';

export function openRow(event: MouseEvent, to: string, navigate: NavigateFunction) {
  const isInteractive = event.target instanceof Element && event.target.closest(INTERACTIVE) !== null;
  const isSelecting = window.getSelection()?.isCollapsed === false;
  if (isInteractive || isSelecting) return;
  if (event.ctrlKey || event.metaKey) window.open(to, '_blank', 'noopener');
  else void navigate(to);
}
