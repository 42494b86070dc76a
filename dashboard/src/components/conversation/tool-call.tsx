// A tool call of a turn, folded: its name and duration; its arguments and result on demand.
import { Wrench } from 'lucide-react';
import type { Span } from '../../api/types';
import { formatDuration } from '../../lib/format';
import { Badge } from '../badge';
import { Disclosure } from '../disclosure';
import { Part } from '../part';
import { Text } from '../text';

export function ToolCall({ span: { name, tool, error, status, durationMs } }: { span: Span }) {
  const problem = error ?? tool?.error ?? undefined;
  return (
    <li className="rounded-md border border-line px-2">
      <Disclosure
        title={
          <span className="flex min-w-0 items-center gap-1.5 text-left text-xs">
            <Wrench className="size-3.5 shrink-0 text-muted" aria-hidden="true" />
            <span className="min-w-0 font-mono font-normal [overflow-wrap:anywhere]">
              <Text>{tool?.name ?? name}</Text>
            </span>
          </span>
        }
        note={
          <span className="flex items-center gap-2 text-muted text-xs tabular-nums">
            {formatDuration(durationMs)}
            {status === 'error' && <Badge tone="bad">Failed</Badge>}
          </span>
        }
      >
        <dl className="mb-2 divide-y divide-line border-line border-t">
          <Part name="Arguments" value={tool?.arguments ?? undefined} />
          <Part name="Result" value={tool?.result ?? undefined} />
          <Part name="Error" value={problem} />
        </dl>
      </Disclosure>
    </li>
  );
}
