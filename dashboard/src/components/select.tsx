// A choice from a list that opens below its button.
import { Select as Base } from '@base-ui/react/select';
import clsx from 'clsx';
import { Check, ChevronDown } from 'lucide-react';
import { FIELD_FRAME } from './field';

interface SelectOption<Value extends string> {
  value: Value;
  name: string;
}

interface SelectProps<Value extends string> {
  /** The accessible name. */
  label: string;
  value: Value;
  options: readonly SelectOption<Value>[];
  onChange: (value: Value) => void;
  className?: string;
}

export function Select<Value extends string>({
  label,
  value,
  options,
  onChange,
  className,
}: SelectProps<Value>) {
  const items = options.map(({ value, name }) => ({ value, label: name }));
  return (
    <Base.Root
      items={items}
      value={value}
      onValueChange={(value) => value !== null && onChange(value)}
      modal={false}
    >
      <Base.Trigger
        aria-label={label}
        className={clsx(FIELD_FRAME, 'flex items-center justify-between gap-2', className)}
      >
        <Base.Value className="min-w-0 truncate" />
        <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden="true" />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner alignItemWithTrigger={false} sideOffset={4} collisionPadding={8} className="z-50">
          <Base.Popup className="max-h-(--available-height) min-w-(--anchor-width) max-w-96 overflow-y-auto rounded-md border border-line bg-surface p-1 text-text shadow-lg outline-none">
            <Base.List>
              {items.map(({ value, label }) => (
                <Base.Item
                  key={value}
                  value={value}
                  className="grid cursor-pointer grid-cols-[1rem_1fr] items-center gap-2 rounded px-2 py-1.5 text-sm outline-none data-highlighted:bg-sunken"
                >
                  <Base.ItemIndicator className="col-start-1">
                    <Check className="size-4" aria-hidden="true" />
                  </Base.ItemIndicator>
                  <Base.ItemText className="col-start-2 min-w-0 truncate">{label}</Base.ItemText>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
