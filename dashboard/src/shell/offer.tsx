// How groups of the palette and what they offer look.
import { Command } from 'cmdk';
import type { ReactNode } from 'react';

export function Group({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={name}
      className="[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-muted [&_[cmdk-group-heading]]:text-xs"
    >
      {children}
    </Command.Group>
  );
}

interface OfferProps {
  /** Tells it apart from all others. */
  value: string;
  icon: ReactNode;
  onSelect: () => void;
  children: ReactNode;
}

export function Offer({ value, icon, onSelect, children }: OfferProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-3 py-1.5 data-[selected=true]:bg-accent-soft [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted"
    >
      {icon}
      {children}
    </Command.Item>
  );
}
