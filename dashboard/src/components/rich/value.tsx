// A value of an agent or a dataset: Markdown rendered, JSON and code highlighted, or raw.
import { useState } from 'react';
import { isMarkdown } from '../../lib/language';
import { parseStructure, toText } from '../../lib/texts';
import { useImport } from '../../lib/use-import';
import { SegmentedControl } from '../segmented-control';
import { TextBlock } from '../text';
import { Highlighted } from './code';
import { FoldedBlock } from './folded-block';
import { loadMarkdown } from './formatters';

type Form = 'json' | 'markdown' | 'text';

/** How a value is shown at first. */
export function formOf(value: unknown): Form {
  if (parseStructure(value) !== undefined) return 'json';
  return typeof value === 'string' && isMarkdown(value) ? 'markdown' : 'text';
}

interface RichValueProps {
  value: unknown;
  /** The accessible name of the choice between rendered and raw. */
  label: string;
}

/** Values that have more than one form can be shown raw. */
export function RichValue({ value, label }: RichValueProps) {
  const form = formOf(value);
  const [isRaw, setRaw] = useState(false);
  if (form === 'text') return <TextBlock>{toText(value)}</TextBlock>;
  return (
    <div className="flex flex-col gap-2">
      <div className="self-end">
        <SegmentedControl
          label={label}
          value={isRaw ? 'raw' : 'rendered'}
          options={[
            { value: 'rendered', name: form === 'json' ? 'JSON' : 'Markdown' },
            { value: 'raw', name: 'Raw' },
          ]}
          onChange={(view) => setRaw(view === 'raw')}
        />
      </div>
      {isRaw ? <TextBlock isCode>{toText(value)}</TextBlock> : <Rendered value={value} form={form} />}
    </div>
  );
}

/** A value in the form that suits it, without a choice. */
export function RenderedValue({ value }: { value: unknown }) {
  const form = formOf(value);
  return form === 'text' ? <TextBlock>{toText(value)}</TextBlock> : <Rendered value={value} form={form} />;
}

function Rendered({ value, form }: { value: unknown; form: 'json' | 'markdown' }) {
  const Markdown = useImport(loadMarkdown)?.default;
  const text = toText(form === 'json' ? parseStructure(value) : value);
  return (
    <FoldedBlock text={text} isCode={form === 'json'}>
      {(shown) => {
        if (form === 'json') return <Highlighted language="json">{shown}</Highlighted>;
        return Markdown === undefined ? shown : <Markdown>{shown}</Markdown>;
      }}
    </FoldedBlock>
  );
}
