// The number of matching runs, and the active filters.
import { X } from 'lucide-react';
import { Text } from '../../components/text';
import { formatCount, pluralize } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { type Filter, type Filters, VERDICTS } from './use-filters';

const LABELS: Record<Filter, (value: string) => string> = {
  search: (text) => `“${text}”`,
  experiment: (name) => name,
  verdict: (verdict) => VERDICTS[verdict as keyof typeof VERDICTS],
  tag: (tag) => `tag ${tag}`,
  since: (date) => `since ${date}`,
  until: (date) => `until ${date}`,
};

export function FilterSummary({
  filters,
  matching,
  known,
}: {
  filters: Filters;
  matching: number;
  known: number;
}) {
  const { active, query, set, clear } = filters;
  const text =
    active.length === 0 ? pluralize(known, 'run') : `${formatCount(matching)} of ${pluralize(known, 'run')}`;
  return (
    <div className="flex min-h-7 flex-wrap items-center gap-2">
      <p role="status" className="mr-1 text-muted tabular-nums">
        {text}
      </p>
      {active.map((filter) => (
        <Chip
          key={filter}
          text={LABELS[filter](query[filter] ?? '')}
          onRemove={() => set({ [filter]: undefined })}
        />
      ))}
      {active.length > 1 && (
        <button type="button" onClick={clear} className="rounded px-1 text-accent text-xs hover:underline">
          Clear all filters
        </button>
      )}
    </div>
  );
}

function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <span className="inline-flex max-w-60 items-center rounded-full border border-line bg-surface pl-2.5 text-xs">
      <span className="truncate">
        <Text>{text}</Text>
      </span>
      <button
        type="button"
        aria-label={`Remove filter ${escapeHidden(text)}`}
        onClick={onRemove}
        className="grid size-6 shrink-0 place-items-center rounded-full text-muted hover:text-text"
      >
        <X className="size-3.5" aria-hidden="true" />
      </button>
    </span>
  );
}
