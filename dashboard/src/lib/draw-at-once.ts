// How the router draws a change that is not to wait for its turn, as those of the address by `useParameters`.
import { flushSync } from 'react-dom';

export function drawAtOnce(change: () => unknown): undefined {
  flushSync(change);
}
