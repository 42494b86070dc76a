// That the agent of a trial failed or timed out.
import { CircleAlert, Clock } from 'lucide-react';
import type { Execution } from '../../../api/types';

export function AgentFailure({ status }: { status: Execution['status'] }) {
  const Icon = status === 'timeout' ? Clock : CircleAlert;
  return (
    <span className="inline-flex items-center gap-1 font-medium">
      <Icon className="size-3.5" aria-hidden="true" />
      {status === 'timeout' ? 'The agent timed out' : 'The agent failed'}
    </span>
  );
}
