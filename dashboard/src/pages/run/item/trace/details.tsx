// A span with all that it reports: numbers, error, input, output and attributes.
import { X } from 'lucide-react';
import { useId } from 'react';
import type { Span } from '../../../../api/types';
import { IconButton } from '../../../../components/button';
import { CopyButton } from '../../../../components/copy-button';
import { FieldList } from '../../../../components/field-list';
import { RichValue } from '../../../../components/rich/value';
import { Text, TextBlock } from '../../../../components/text';
import { formatCost, formatDuration } from '../../../../lib/format';
import { toText } from '../../../../lib/texts';
import { Fact } from '../fact';
import { Heading } from '../heading';
import { errorOf, factsOf, LABELS, Marks, modelOf, nameOf, tokensOf } from './span';

export function SpanDetails({ span, onClose }: { span: Span; onClose: () => void }) {
  const id = useId();
  const { kind, model, tool, attributes = {} } = span;
  const name = nameOf(span);
  const error = errorOf(span);
  const modelName = modelOf(span);
  const tokens = tokensOf(span);
  const facts = factsOf(span);
  const values: [name: string, value: unknown][] = [
    ['Arguments', tool?.arguments],
    ['Result', tool?.result],
    ['Input', model?.input],
    ['Response', model?.output],
  ];
  return (
    <section aria-labelledby={id} className="min-w-0 rounded-md border border-line">
      <div className="flex items-center gap-2 border-line border-b bg-sunken/50 py-0.5 pr-1 pl-3">
        <Heading
          depth={2}
          id={id}
          className="line-clamp-3 min-w-0 font-medium font-mono text-xs [overflow-wrap:anywhere]"
        >
          <Text>{name}</Text>
        </Heading>
        <span className="ml-auto flex items-center gap-1">
          <CopyButton text={JSON.stringify(span, null, 2)} label="Copy the span as JSON" />
          <IconButton label="Close the span" onClick={onClose}>
            <X />
          </IconButton>
        </span>
      </div>
      <div className="flex flex-col gap-3 p-3">
        <dl className="flex flex-wrap gap-x-6 gap-y-2">
          <Fact name="Kind">
            {LABELS[kind]} <Marks span={span} />
          </Fact>
          <Fact name="Started after">{formatDuration(span.startMs)}</Fact>
          <Fact name="Duration">{formatDuration(span.durationMs)}</Fact>
          {modelName !== undefined && (
            <Fact name="Model">
              <Text>{modelName}</Text>
            </Fact>
          )}
          {tokens !== undefined && <Fact name="Tokens (input → output)">{tokens}</Fact>}
          {model?.cost != null && <Fact name="Agent cost">{formatCost(model.cost)}</Fact>}
          {facts.length > 0 && (
            <Fact name="Model call">
              <Text>{facts.join(', ')}</Text>
            </Fact>
          )}
        </dl>
        {error !== undefined && (
          <TextBlock isCode className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            {error}
          </TextBlock>
        )}
        {values.map(([label, value]) => value != null && <Value key={label} name={label} value={value} />)}
        {Object.keys(attributes).length > 0 && (
          <div>
            <Heading depth={3} className="mb-1 text-muted text-xs">
              Attributes
            </Heading>
            <FieldList fields={attributes} />
          </div>
        )}
      </div>
    </section>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  return (
    <div className="min-w-0">
      <div className="flex items-center justify-between gap-2">
        <Heading depth={3} className="text-muted text-xs">
          {name}
        </Heading>
        <CopyButton text={toText(value)} label={`Copy the ${name.toLowerCase()}`} />
      </div>
      <div className="rounded-md border border-line bg-sunken/50 px-3 py-2">
        <RichValue value={value} label={`Format of the ${name.toLowerCase()}`} />
      </div>
    </div>
  );
}
