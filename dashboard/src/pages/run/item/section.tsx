// A titled section of an item.
import { type ReactNode, useId } from 'react';
import { Heading } from './heading';

interface SectionProps {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function Section({ title, actions, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="px-4 py-3">
      <div className="mb-2 flex min-h-7 items-center justify-between gap-2">
        <Heading depth={1} id={id} className="font-semibold">
          {title}
        </Heading>
        {actions}
      </div>
      {children}
    </section>
  );
}
