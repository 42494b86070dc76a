// An object as its fields, each with its name: texts as texts, lists as JSON.
import { parseStructure, toText } from '../lib/texts';
import { Text, TextBlock } from './text';

/** One value of any kind. */
export function FieldValue({ value }: { value: unknown }) {
  const structure = parseStructure(value);
  if (structure !== undefined) return <TextBlock isCode>{toText(structure)}</TextBlock>;
  if (typeof value === 'string') return <TextBlock>{value}</TextBlock>;
  return <code className="font-mono text-xs">{toText(value)}</code>;
}

interface Field {
  /** The names that lead to it. */
  path: string[];
  value: unknown;
}

/** How deep objects are taken apart; what lies deeper is JSON. */
const MAX_DEPTH = 3;

function fieldsOf(record: object, parents: string[] = []): Field[] {
  return Object.entries(record).flatMap(([name, value]) => {
    const path = [...parents, name];
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const isExpanded = isObject && Object.keys(value).length > 0 && path.length < MAX_DEPTH;
    return isExpanded ? fieldsOf(value, path) : [{ path, value }];
  });
}

/** The fields of an object in its order, those of objects in it by names such as `customer.plan`. */
export function FieldList({ fields: record }: { fields: Record<string, unknown> }) {
  return (
    <dl className="divide-y divide-line overflow-hidden rounded-md border border-line">
      {fieldsOf(record).map(({ path, value }) => (
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
