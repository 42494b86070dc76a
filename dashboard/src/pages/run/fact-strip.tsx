// A strip across the page of a run: a fact in a line, and details beside it.
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Text } from '../../components/text';

interface FactStripProps {
  label: string;
  icon: LucideIcon;
  line: string;
  children: ReactNode;
}

export function FactStrip({ label, icon: Icon, line, children }: FactStripProps) {
  return (
    <section
      aria-label={label}
      className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-lg border border-line bg-surface px-4 py-2.5"
    >
      <p className="flex items-center gap-2 font-medium tabular-nums">
        <Icon className="size-4 shrink-0 text-muted" aria-hidden="true" />
        <Text>{line}</Text>
      </p>
      {children}
    </section>
  );
}
