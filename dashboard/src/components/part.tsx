// A named value of a call of a tool or a model.
import { FieldValue } from './field-list';

export function Part({ name, value }: { name: string; value: unknown }) {
  if (value === undefined) return null;
  return (
    <div className="grid gap-x-4 px-3 py-1.5 sm:grid-cols-[6rem_minmax(0,1fr)]">
      <dt className="text-muted text-xs/5">{name}</dt>
      <dd className="min-w-0">
        <FieldValue value={value} />
      </dd>
    </div>
  );
}
