// The item as JSON, as in the result file.
import { useMemo } from 'react';
import type { Item } from '../../../api/types';
import { CopyButton } from '../../../components/copy-button';
import { Code } from '../../../components/rich/code';
import { formatCount } from '../../../lib/format';
import { Section } from './section';

/** More is not shown, only copied. */
const MAX_CHARACTERS = 100_000;

export function Raw({ item }: { item: Item }) {
  const json = useMemo(() => JSON.stringify(item, null, 2), [item]);
  return (
    <Section title="JSON" actions={<CopyButton text={json} label="Copy the item as JSON" />}>
      {json.length > MAX_CHARACTERS && (
        <p className="mb-2 text-muted text-xs">
          Showing the first {formatCount(MAX_CHARACTERS)} of {formatCount(json.length)} characters. Copy it to
          see the rest.
        </p>
      )}
      <Code language="json">{json.slice(0, MAX_CHARACTERS)}</Code>
    </Section>
  );
}
