// Groups of palette entries.
import { Command } from 'cmdk';
import type { ReactNode } from 'react';

interface PaletteItem {
  /** Unique among all entries. */
  value: string;
  icon: ReactNode;
  children: ReactNode;
  onSelect: () => void;
}

export interface PaletteGroup {
  name: string;
  items: PaletteItem[];
}

export function PaletteItems({ name, items }: PaletteGroup) {
  if (items.length === 0) return null;
  return (
    <Command.Group
      heading={name}
      className="[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-muted [&_[cmdk-group-heading]]:text-xs"
    >
      {items.map(({ value, icon, children, onSelect }) => (
        <Command.Item
          key={value}
          value={value}
          onSelect={onSelect}
          className="flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-3 py-1.5 data-[selected=true]:bg-accent-soft [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted"
        >
          {icon}
          {children}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
