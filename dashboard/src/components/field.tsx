// Form fields. Each has a label, visible or for screen readers.
import { Field } from '@base-ui/react/field';
import clsx from 'clsx';
import { Search } from 'lucide-react';
import { type ComponentProps, type ReactElement, useEffect, useState } from 'react';

/** The classes of a field's frame. */
export const FIELD_FRAME =
  'h-9 rounded-md border border-line bg-surface px-2 text-text placeholder:text-muted';

interface LabelledFieldProps {
  label: string;
  /** What to enter, below the control. */
  hint?: string;
  /** An `input` or a `textarea`. */
  children: ReactElement;
}

/** A control with its label above it. */
export function LabelledField({ label, hint, children }: LabelledFieldProps) {
  return (
    <Field.Root className="flex flex-col gap-1">
      <Field.Label className="font-medium">{label}</Field.Label>
      <Field.Control render={children} />
      {hint !== undefined && <Field.Description className="text-muted text-xs">{hint}</Field.Description>}
    </Field.Root>
  );
}

/** The pause in typing after which the search starts. */
const DEBOUNCE_MS = 200;

interface SearchFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  className?: string;
}

/** A debounced search field. */
export function SearchField({ label, value, onChange, className }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <label className={clsx('relative block', className)}>
      <span className="sr-only">{label}</span>
      <Search className="absolute top-2.5 left-2.5 size-4 text-muted" aria-hidden="true" />
      <input
        type="search"
        value={typed}
        placeholder={label}
        onChange={(event) => setTyped(event.target.value)}
        className={clsx(FIELD_FRAME, 'w-full pl-8')}
      />
    </label>
  );
}

type DateFieldProps = Omit<ComponentProps<'input'>, 'onChange' | 'type'> & {
  label: string;
  onChange: (value: string) => void;
};

/** A date field (`2026-02-05`) with its label inside the frame. */
export function DateField({ label, onChange, className, ...rest }: DateFieldProps) {
  return (
    <label className={clsx('relative block min-w-0', className)}>
      <span className="pointer-events-none absolute top-2.5 left-2 text-muted text-xs">{label}</span>
      <input
        type="date"
        {...rest}
        onChange={(event) => onChange(event.target.value)}
        className={clsx(FIELD_FRAME, 'w-full min-w-0 pl-12')}
      />
    </label>
  );
}
