// How a page fits into the shell.
import { useMatches } from 'react-router';

/** What a route tells the shell in its `handle`. */
export interface PageLayout {
  /** Whether the page is as high as the window and scrolls within itself. */
  fillsWindow: boolean;
}

export function useFillsWindow(): boolean {
  return useMatches().some(({ handle }) => (handle as PageLayout | undefined)?.fillsWindow === true);
}
