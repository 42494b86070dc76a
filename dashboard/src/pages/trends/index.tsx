// The page.
import { useTitle } from '../../lib/use-title';

export function Component() {
  useTitle('Trends');
  return <h1 className="font-semibold text-xl">Trends</h1>;
}
