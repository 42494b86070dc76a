// An empty state, with what to do next.
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button';

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-16 text-center text-muted">
      <p className="font-semibold text-base text-text">{title}</p>
      {children}
    </div>
  );
}

/** A command that can be copied. */
export function CommandSnippet({ children }: { children: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1 rounded-md border border-line bg-sunken pl-3 text-text">
      <code className="overflow-x-auto py-1.5 font-mono">{children}</code>
      <CopyButton text={children} label="Copy the command" />
    </span>
  );
}
