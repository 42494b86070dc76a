// Lets the router render a navigation synchronously, as `useUrlParameters` requires.
import { flushSync } from 'react-dom';

export function renderSync(change: () => unknown): undefined {
  flushSync(change);
}
