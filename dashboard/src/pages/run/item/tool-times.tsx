// The tool calls of a trial in one line each, with their times. A click shows the span in the trace.
import { Wrench } from 'lucide-react';
import { Link, useLocation } from 'react-router';
import type { Span } from '../../../api/types';
import { CutText } from '../../../components/cut-text';
import { formatDuration, pluralize } from '../../../lib/format';
import { Marks, nameOf } from './trace/span';

/** The others are in the trace. */
const MAX_CALLS = 12;

/** Whether a trace has calls of tools. */
export const hasToolCalls = (spans: Span[]) => spans.some(isToolCall);

const isToolCall = ({ kind }: Span) => kind === 'tool';

export function ToolTimes({ spans }: { spans: Span[] }) {
  const spanUrl = useSpanUrl();
  const calls = spans.flatMap((span, place) => (isToolCall(span) ? [{ span, place }] : []));
  return (
    <>
      <ol aria-label="Tool calls" className="flex flex-wrap gap-1.5">
        {calls.slice(0, MAX_CALLS).map(({ span, place }) => (
          <li key={place} className="min-w-0 max-w-full">
            <Link
              to={spanUrl(place)}
              className="inline-flex min-w-0 max-w-full items-center gap-1.5 rounded-md border border-line px-2 py-1 text-xs hover:bg-sunken"
            >
              <Wrench className="size-3.5 shrink-0 text-muted" aria-hidden="true" />
              <CutText className="font-mono">{nameOf(span)}</CutText>
              <span className="whitespace-nowrap text-muted tabular-nums">
                {formatDuration(span.durationMs)}
              </span>
              <Marks span={span} />
            </Link>
          </li>
        ))}
      </ol>
      {calls.length > MAX_CALLS && (
        <p className="mt-1.5 text-muted text-xs">
          {pluralize(calls.length - MAX_CALLS, 'further call')} in the trace.
        </p>
      )}
    </>
  );
}

/** The URL of a span of this item, by its index in the trace. */
function useSpanUrl() {
  const { pathname, search } = useLocation();
  return (place: number) => {
    const parameters = new URLSearchParams(search);
    parameters.set('tab', 'trace');
    parameters.set('span', String(place + 1));
    return `${pathname}?${parameters}`;
  };
}
