// The settings of a variant: fields in a line each, anything else as JSON.
import clsx from 'clsx';
import { toText } from '../lib/texts';
import { Text } from './text';

interface SettingsProps {
  settings: unknown;
  /** Whether the fields are in one line. */
  isInline?: boolean;
}

export function Settings({ settings, isInline = false }: SettingsProps) {
  if (settings == null) return null;
  const fields =
    typeof settings === 'object' && !Array.isArray(settings) ? Object.entries(settings) : undefined;
  if (fields === undefined) {
    return (
      <code className="block font-mono text-muted text-xs [overflow-wrap:anywhere]">
        <Text>{toText(settings)}</Text>
      </code>
    );
  }
  if (fields.length === 0) return null;
  return (
    <dl
      className={clsx(
        'flex min-w-0 text-muted text-xs',
        isInline ? 'flex-wrap gap-x-4 gap-y-1' : 'mt-1 flex-col',
      )}
    >
      {fields.map(([name, value]) => (
        <div key={name} className="flex gap-1.5">
          <dt className="shrink-0">
            <Text>{name}</Text>
          </dt>
          <dd className="min-w-0 font-mono text-text [overflow-wrap:anywhere]">
            <Text>{toText(value)}</Text>
          </dd>
        </div>
      ))}
    </dl>
  );
}
