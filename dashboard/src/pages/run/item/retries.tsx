// Why the attempts of a trial were retried.
import type { Execution } from '../../../api/types';
import { TextBlock } from '../../../components/text';
import { retriedErrors } from '../../../lib/retries';

export function TrialRetries({ execution }: { execution: Execution }) {
  return (
    <ul className="flex flex-col gap-2">
      {retriedErrors(execution).map(({ error, times }) => (
        <li key={error}>
          <TextBlock isCode>{error}</TextBlock>
          {times !== undefined && <p className="text-muted text-xs tabular-nums">{times}</p>}
        </li>
      ))}
    </ul>
  );
}
