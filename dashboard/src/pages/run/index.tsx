// The page.
import { useTitle } from '../../lib/use-title';

export function Component() {
  useTitle('Run');
  return <h1 className="font-semibold text-xl">Run</h1>;
}
