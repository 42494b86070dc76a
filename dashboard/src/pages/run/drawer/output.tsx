// The agent's output, diffed with the expected output; or the agent's error.
import { CircleAlert, Clock } from 'lucide-react';
import type { Execution } from '../../../api/types';
import { Diff } from '../../../components/diff';
import { FieldValue } from '../../../components/field-list';
import { TextBlock } from '../../../components/text';

const NAMES = ['Expected', 'Output'] as const;

interface OutputProps {
  execution: Execution;
  /** Undefined if the dataset has no expected output. */
  expected: unknown;
}

export function Output({ execution, expected }: OutputProps) {
  if (execution.error != null) {
    return (
      <div className="flex flex-col gap-3">
        <Failure execution={execution} />
        {expected !== undefined && (
          <div>
            <p className="mb-1 font-medium text-muted text-xs">Expected</p>
            <div className="rounded-md border border-line bg-sunken/50 px-3 py-2">
              <FieldValue value={expected} />
            </div>
          </div>
        )}
      </div>
    );
  }
  const { output } = execution.output;
  if (expected !== undefined) return <Diff before={expected} after={output} names={NAMES} />;
  return (
    <div className="rounded-md border border-line bg-sunken/50 px-3 py-2">
      <FieldValue value={output} />
    </div>
  );
}

function Failure({ execution }: { execution: Execution }) {
  const Icon = execution.status === 'timeout' ? Clock : CircleAlert;
  return (
    <div className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      <div className="min-w-0">
        <p className="font-medium">
          {execution.status === 'timeout' ? 'The agent timed out' : 'The agent failed'}
        </p>
        <TextBlock isCode>{execution.error ?? ''}</TextBlock>
      </div>
    </div>
  );
}
