// A choice of one option, as adjacent buttons.
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import type { ReactNode } from 'react';

interface SegmentedControlProps<Value extends string> {
  /** The accessible name. */
  label: string;
  value: Value;
  options: readonly { value: Value; name: ReactNode }[];
  onChange: (value: Value) => void;
}

export function SegmentedControl<Value extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentedControlProps<Value>) {
  return (
    <ToggleGroup
      aria-label={label}
      value={[value]}
      onValueChange={([next]) => next !== undefined && onChange(next as Value)}
      className="inline-flex rounded-md border border-line bg-sunken p-0.5"
    >
      {options.map((option) => (
        <Toggle
          key={option.value}
          value={option.value}
          className="rounded px-2 py-0.5 font-medium text-muted text-xs whitespace-nowrap hover:text-text data-pressed:bg-surface data-pressed:text-text data-pressed:shadow-sm"
        >
          {option.name}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}
