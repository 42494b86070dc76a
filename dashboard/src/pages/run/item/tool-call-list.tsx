// The tool calls in their order.
import { Wrench } from 'lucide-react';
import { Badge } from '../../../components/badge';
import { Part } from '../../../components/part';
import { Text } from '../../../components/text';
import type { ToolCall } from './tool-calls';

export function ToolCalls({ calls }: { calls: ToolCall[] }) {
  return (
    <ol className="flex flex-col gap-2">
      {calls.map((call, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls are identified by their index
        <li key={place} className="overflow-hidden rounded-md border border-line">
          <div className="flex items-center gap-2 bg-sunken/60 px-3 py-1.5">
            <Wrench className="size-3.5 text-muted" aria-hidden="true" />
            <span className="min-w-0 font-medium font-mono text-xs [overflow-wrap:anywhere]">
              <Text>{call.name}</Text>
            </span>
            {call.error !== undefined && <Badge tone="bad">Failed</Badge>}
          </div>
          <dl className="divide-y divide-line">
            <Part name="Arguments" value={call.arguments} />
            <Part name="Result" value={call.result} />
            <Part name="Error" value={call.error} />
          </dl>
        </li>
      ))}
    </ol>
  );
}
