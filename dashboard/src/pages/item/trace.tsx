// The trace of a trial: a tree of spans. A click on a span shows its contents.

import { Bot, ChevronRight, CircleDot, MessageSquare, Search, Wrench } from 'lucide-react';
import { type ReactNode, useId, useMemo, useState } from 'react';
import type { Span, SpanKind } from '../../api/types';
import { Badge } from '../../components/badge';
import { FieldList } from '../../components/field-list';
import { Part } from '../../components/part';
import { ShowAll } from '../../components/show-all';
import { Text } from '../../components/text';
import { formatCost, formatCount, formatDuration, pluralize } from '../../lib/format';
import { buildTree, type SpanNode } from './trace-tree';

const ICONS: Record<SpanKind, typeof Bot> = {
  agent: Bot,
  model: MessageSquare,
  tool: Wrench,
  retrieval: Search,
  other: CircleDot,
};
const LABELS: Record<SpanKind, string> = {
  agent: 'Agent',
  model: 'Model',
  tool: 'Tool',
  retrieval: 'Retrieval',
  other: 'Step',
};
/** More spans are shown on demand. */
const SHOWN = 200;

interface TraceProps {
  spans: Span[];
  /** How many further spans were not recorded. */
  dropped: number;
}

export function Trace({ spans, dropped }: TraceProps) {
  const [isWhole, setWhole] = useState(false);
  const tree = useMemo(() => buildTree(isWhole ? spans : spans.slice(0, SHOWN)), [spans, isWhole]);
  return (
    <>
      <Spans nodes={tree} />
      {!isWhole && spans.length > SHOWN && (
        <ShowAll count={spans.length} noun="spans" onClick={() => setWhole(true)} />
      )}
      {dropped > 0 && (
        <p className="mt-2 text-muted text-xs">{pluralize(dropped, 'further span')} not recorded.</p>
      )}
    </>
  );
}

/** The numbers of a trace in one line: `20 spans, 2 failed`. */
export function traceNote(spans: Span[], dropped: number): string {
  const failed = spans.filter(({ status }) => status === 'error').length;
  const all = pluralize(spans.length + dropped, 'span');
  return failed > 0 ? `${all}, ${formatCount(failed)} failed` : all;
}

function Spans({ nodes }: { nodes: SpanNode[] }) {
  return (
    <ul className="[&_ul]:ml-2.5 [&_ul]:border-line [&_ul]:border-l [&_ul]:pl-2">
      {nodes.map(({ span, children }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: damaged files may have duplicate IDs
        <li key={place}>
          <Row span={span} />
          {children.length > 0 && <Spans nodes={children} />}
        </li>
      ))}
    </ul>
  );
}

function Row({ span }: { span: Span }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const contents = contentsOf(span);
  const look = 'flex w-full flex-wrap items-center gap-x-2 gap-y-0.5 rounded px-1 py-1 text-left';
  if (contents === undefined) {
    return (
      <div className={look}>
        <span className="size-3.5 shrink-0" aria-hidden="true" />
        <Line span={span} />
      </div>
    );
  }
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className={`${look} hover:bg-sunken`}
      >
        <ChevronRight
          className={`size-3.5 shrink-0 text-muted transition-transform ${isOpen ? 'rotate-90' : ''}`}
          aria-hidden="true"
        />
        <Line span={span} />
      </button>
      {isOpen && (
        <div id={id} className="mt-0.5 mb-1.5 ml-5 overflow-hidden rounded-md border border-line">
          {contents}
        </div>
      )}
    </>
  );
}

/** Kind, name, model and status of a span; at the end, its tokens, cost and duration. */
function Line({ span }: { span: Span }) {
  const { kind, model, tool, status } = span;
  const Icon = ICONS[kind];
  const error = errorOf(span);
  const fault = faultOf(span);
  const name = kind === 'tool' && tool != null ? tool.name : span.name;
  const modelName = model?.answered ?? model?.asked;
  const figures = [
    model?.tokens != null &&
      `${formatCount(model.tokens.input)} → ${pluralize(model.tokens.output, 'token')}`,
    model?.cost != null && formatCost(model.cost),
    formatDuration(span.durationMs),
  ].filter((figure) => typeof figure === 'string');
  return (
    <>
      <span className="inline-flex shrink-0 items-center gap-1 text-muted text-xs">
        <Icon className="size-3.5" aria-hidden="true" />
        {LABELS[kind]}
      </span>
      <span className="min-w-0 font-medium font-mono text-xs [overflow-wrap:anywhere]">
        <Text>{name}</Text>
      </span>
      {modelName != null && !name.includes(modelName) && (
        <span className="min-w-0 text-muted text-xs [overflow-wrap:anywhere]">
          <Text>{modelName}</Text>
        </span>
      )}
      {status === 'error' && <Badge tone="bad">Failed</Badge>}
      {status === 'open' && <Badge tone="warn">Not finished</Badge>}
      {fault !== undefined && (
        <Badge tone="warn">
          <Text>{`Fault: ${fault}`}</Text>
        </Badge>
      )}
      {model?.replayed === true && <Badge>Replayed</Badge>}
      <span className="ml-auto text-muted text-xs tabular-nums">{figures.join(' · ')}</span>
      {error != null && (
        <span className="min-w-0 basis-full truncate pl-5.5 text-bad text-xs">
          <Text>{error}</Text>
        </span>
      )}
    </>
  );
}

/** The fault that was injected into a call of a tool. */
function faultOf({ kind, attributes }: Span): string | undefined {
  const fault = attributes?.fault;
  return kind === 'tool' && typeof fault === 'string' ? fault : undefined;
}

const errorOf = ({ error, tool }: Span) => error ?? tool?.error;

/** The texts, values and attributes of a span; undefined without any. */
function contentsOf(span: Span): ReactNode {
  const { model, tool, attributes = {} } = span;
  const parts: [name: string, value: unknown][] = [
    ['Error', errorOf(span)],
    ['Arguments', tool?.arguments],
    ['Result', tool?.result],
    ['Input', model?.input],
    ['Response', model?.output],
  ];
  const shown = parts.filter(([, value]) => value != null);
  const facts = factsOf(span);
  const hasAttributes = Object.keys(attributes).length > 0;
  if (shown.length === 0 && facts.length === 0 && !hasAttributes) return undefined;
  return (
    <>
      <dl className="divide-y divide-line">
        {shown.map(([name, value]) => (
          <Part key={name} name={name} value={value} />
        ))}
        {facts.length > 0 && <Part name="Details" value={facts.join(', ')} />}
      </dl>
      {hasAttributes && (
        <div className="border-line border-t px-3 py-2">
          <p className="mb-1 text-muted text-xs">Attributes</p>
          <FieldList fields={attributes} />
        </div>
      )}
    </>
  );
}

/** What a model call reports beyond its line. */
function factsOf({ startMs, model }: Span): string[] {
  if (model == null) return [];
  const { tokens, retries = 0 } = model;
  const facts = [
    model.vendor,
    model.asked != null && model.answered != null && model.asked !== model.answered
      ? `asked for ${model.asked}`
      : undefined,
    model.finishReason != null ? `finish reason ${model.finishReason}` : undefined,
    model.timeToFirstTokenMs != null
      ? `first token after ${formatDuration(model.timeToFirstTokenMs)}`
      : undefined,
    tokens?.cachedInput ? `${formatCount(tokens.cachedInput)} input tokens cached` : undefined,
    tokens?.reasoning ? `${formatCount(tokens.reasoning)} reasoning tokens` : undefined,
    retries > 0 ? `sent again ${retries === 1 ? 'once' : `${retries} times`}` : undefined,
    model.recordedLatencyMs != null ? `recorded in ${formatDuration(model.recordedLatencyMs)}` : undefined,
    `started at ${formatDuration(startMs)}`,
  ];
  return facts.filter((fact) => fact != null);
}
