// Lists the fields of an object: strings as text, arrays as JSON.
import { formatCount } from '../lib/format';
import { parseStructure, toText } from '../lib/texts';
import { Text, TextBlock } from './text';

/** Encoded data, which nobody reads. */
const DATA = /^data:[\w.+-]+\/[\w.+-]+;base64,/i;
/** The beginning of encoded data that is shown, in characters. */
const DATA_START = 48;

export function FieldValue({ value }: { value: unknown }) {
  if (typeof value === 'string' && value.length > 4 * DATA_START && DATA.test(value)) {
    const rest = ` … (${formatCount(value.length)} characters)`;
    return (
      <code className="font-mono text-xs [overflow-wrap:anywhere]">{value.slice(0, DATA_START) + rest}</code>
    );
  }
  const structure = parseStructure(value);
  if (structure !== undefined) return <TextBlock isCode>{toText(structure)}</TextBlock>;
  if (typeof value === 'string') return <TextBlock>{value}</TextBlock>;
  return <code className="font-mono text-xs">{toText(value)}</code>;
}

interface Field {
  /** The keys from the root to this field. */
  path: string[];
  value: unknown;
}

/** Objects nested deeper are shown as JSON. */
const MAX_DEPTH = 3;

function fieldsOf(record: object, parents: string[] = []): Field[] {
  return Object.entries(record).flatMap(([name, value]) => {
    const path = [...parents, name];
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const isExpanded = isObject && Object.keys(value).length > 0 && path.length < MAX_DEPTH;
    return isExpanded ? fieldsOf(value, path) : [{ path, value }];
  });
}

/** The fields of an object in their order; nested ones are named like `customer.plan`. */
export function FieldList({ fields }: { fields: Record<string, unknown> }) {
  return (
    <dl className="divide-y divide-line overflow-hidden rounded-md border border-line">
      {fieldsOf(fields).map(({ path, value }) => (
        <div
          key={JSON.stringify(path)}
          className="grid gap-x-4 gap-y-0.5 px-3 py-2 sm:grid-cols-[9rem_minmax(0,1fr)]"
        >
          <dt className="font-mono text-muted text-xs/5 [overflow-wrap:anywhere]">
            <Text>{path.join('.')}</Text>
          </dt>
          <dd className="min-w-0">
            <FieldValue value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
