// The parts of a span: its kind, names, problems and numbers.
import { Bot, CircleDot, MessageSquare, Search, Wrench } from 'lucide-react';
import type { Span, SpanKind } from '../../../../api/types';
import { Badge } from '../../../../components/badge';
import { Text } from '../../../../components/text';
import { formatCount, formatDuration } from '../../../../lib/format';

export const ICONS: Record<SpanKind, typeof Bot> = {
  agent: Bot,
  model: MessageSquare,
  tool: Wrench,
  retrieval: Search,
  other: CircleDot,
};

export const LABELS: Record<SpanKind, string> = {
  agent: 'Agent',
  model: 'Model',
  tool: 'Tool',
  retrieval: 'Retrieval',
  other: 'Step',
};

/** The name of the tool, for a call of one. */
export const nameOf = ({ kind, name, tool }: Span) => (kind === 'tool' && tool != null ? tool.name : name);

/** The model that answered, unless the name says it. */
export function modelOf(span: Span): string | undefined {
  const model = span.model?.answered ?? span.model?.asked;
  return model == null || nameOf(span).includes(model) ? undefined : model;
}

export const errorOf = ({ error, tool }: Span) => error ?? tool?.error ?? undefined;

/** The fault that was injected into a call of a tool. */
function faultOf({ kind, attributes }: Span): string | undefined {
  const fault = attributes?.fault;
  return kind === 'tool' && typeof fault === 'string' ? fault : undefined;
}

/** `1,204 → 38`: the input and output tokens of a model call. */
export function tokensOf({ model }: Span): string | undefined {
  return model?.tokens == null
    ? undefined
    : `${formatCount(model.tokens.input)} → ${formatCount(model.tokens.output)}`;
}

/** Badges: whether a span failed or is unfinished, its fault, and whether it was replayed. */
export function Marks({ span }: { span: Span }) {
  const fault = faultOf(span);
  return (
    <>
      {span.status === 'error' && <Badge tone="bad">Failed</Badge>}
      {span.status === 'open' && <Badge tone="warn">Not finished</Badge>}
      {fault !== undefined && (
        <Badge tone="warn">
          <Text>{`Fault: ${fault}`}</Text>
        </Badge>
      )}
      {span.model?.replayed === true && <Badge>Replayed</Badge>}
    </>
  );
}

/** What a model call reports beyond its tokens and cost. */
export function factsOf({ model }: Span): string[] {
  if (model == null) return [];
  const { tokens, retries = 0 } = model;
  const facts = [
    model.vendor,
    model.asked != null && model.answered != null && model.asked !== model.answered
      ? `requested ${model.asked}`
      : undefined,
    model.finishReason != null ? `finish reason ${model.finishReason}` : undefined,
    model.timeToFirstTokenMs != null
      ? `first token after ${formatDuration(model.timeToFirstTokenMs)}`
      : undefined,
    tokens?.cachedInput ? `${formatCount(tokens.cachedInput)} input tokens cached` : undefined,
    tokens?.reasoning ? `${formatCount(tokens.reasoning)} reasoning tokens` : undefined,
    retries > 0 ? `retried ${retries === 1 ? 'once' : `${retries} times`}` : undefined,
    model.recordedLatencyMs != null ? `recorded in ${formatDuration(model.recordedLatencyMs)}` : undefined,
  ];
  return facts.filter((fact) => fact != null);
}
