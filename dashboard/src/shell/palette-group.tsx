// What the palette offers, in groups, and how it looks.
import { Command } from 'cmdk';
import type { ReactNode } from 'react';

interface PaletteItem {
  /** Tells it apart from all others. */
  value: string;
  icon: ReactNode;
  /** What is seen of it. */
  children: ReactNode;
  onSelect: () => void;
}

export interface PaletteGroup {
  name: string;
  items: PaletteItem[];
}

export function PaletteItems({ name, items: offers }: PaletteGroup) {
  if (offers.length === 0) return null;
  return (
    <Command.Group
      heading={name}
      className="[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-muted [&_[cmdk-group-heading]]:text-xs"
    >
      {offers.map(({ value, icon, children, onSelect: act }) => (
        <Command.Item
          key={value}
          value={value}
          onSelect={act}
          className="flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-3 py-1.5 data-[selected=true]:bg-accent-soft [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted"
        >
          {icon}
          {children}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
