// The page.
import { useTitle } from '../../lib/use-title';

export function Component() {
  useTitle('Compare');
  return <h1 className="font-semibold text-xl">Compare</h1>;
}
