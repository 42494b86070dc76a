// A titled section of a page.
import clsx from 'clsx';
import { type ReactNode, useId } from 'react';

interface PanelProps {
  title: string;
  /** Controls at the end of the title bar. */
  actions?: ReactNode;
  className?: string;
  children: ReactNode;
}

export function Panel({ title, actions, className, children }: PanelProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={clsx('min-w-0 rounded-lg border border-line bg-surface', className)}
    >
      <div className="flex min-h-12 flex-wrap items-center justify-between gap-2 px-4 py-2">
        <h2 id={id} className="font-semibold">
          {title}
        </h2>
        {actions}
      </div>
      <div className="px-4 pb-4">{children}</div>
    </section>
  );
}

/** A metric with its name. */
export function Metric({ name, children, note }: { name: ReactNode; children: ReactNode; note?: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-0.5 font-semibold text-base tabular-nums">{children}</dd>
      {note !== undefined && <dd className="text-muted text-xs">{note}</dd>}
    </div>
  );
}
