// The start page: a row for each experiment, or all runs.
import { useUrlParameters } from '../../lib/use-url-parameters';
import { AllRuns } from '../runs/all-runs';
import { Experiments } from './experiments';

export function Component() {
  return useUrlParameters().get('view') === 'runs' ? <AllRuns /> : <Experiments />;
}
