// An object as its fields, each with its name: texts as texts, all else as JSON.
import { asStructure, asText } from '../lib/texts';
import { Text, TextBlock } from './text';

/** One value of any kind. */
export function Value({ of: value }: { of: unknown }) {
  const structure = asStructure(value);
  if (structure !== undefined) return <TextBlock isCode>{asText(structure)}</TextBlock>;
  if (typeof value === 'string') return <TextBlock>{value}</TextBlock>;
  return <code className="font-mono text-xs">{asText(value)}</code>;
}

/** The fields of an object, in its order. */
export function Fields({ of: record }: { of: Record<string, unknown> }) {
  return (
    <dl className="divide-y divide-line overflow-hidden rounded-md border border-line">
      {Object.entries(record).map(([name, value]) => (
        <div key={name} className="grid gap-x-4 gap-y-0.5 px-3 py-2 sm:grid-cols-[9rem_minmax(0,1fr)]">
          <dt className="font-mono text-muted text-xs/5 [overflow-wrap:anywhere]">
            <Text>{name}</Text>
          </dt>
          <dd className="min-w-0">
            <Value of={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
