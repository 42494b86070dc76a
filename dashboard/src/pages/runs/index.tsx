// The page.
import { useTitle } from '../../lib/use-title';

export function Component() {
  useTitle('Runs');
  return <h1 className="font-semibold text-xl">Runs</h1>;
}
