// Opens a run where its row is clicked, as a link would.
import type { MouseEvent } from 'react';
import type { NavigateFunction } from 'react-router';

/** What does something itself when it is clicked. */
const INTERACTIVE = 'a, button, input, label, summary';

export function openRun(event: MouseEvent, id: string, navigate: NavigateFunction) {
  const isOnAction = event.target instanceof Element && event.target.closest(INTERACTIVE) !== null;
  const isSelecting = window.getSelection()?.isCollapsed === false;
  if (isOnAction || isSelecting) return;
  const to = `/runs/${encodeURIComponent(id)}`;
  if (event.ctrlKey || event.metaKey) window.open(to, '_blank', 'noopener');
  else void navigate(to);
}
