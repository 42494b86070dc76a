// A section that folds away.
import { Collapsible } from '@base-ui/react/collapsible';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';

interface DisclosureProps {
  title: ReactNode;
  /** Shown beside the title, open or not. */
  note?: ReactNode;
  children: ReactNode;
}

export function Disclosure({ title, note, children }: DisclosureProps) {
  return (
    <Collapsible.Root className="min-w-0">
      <div className="flex flex-wrap items-center gap-x-3">
        <Collapsible.Trigger className="group flex items-center gap-1.5 rounded py-1 font-medium hover:text-accent">
          <ChevronRight
            aria-hidden="true"
            className="size-4 text-muted transition-transform group-data-panel-open:rotate-90"
          />
          {title}
        </Collapsible.Trigger>
        {note}
      </div>
      <Collapsible.Panel>{children}</Collapsible.Panel>
    </Collapsible.Root>
  );
}
