// An empty state, with what to do next.
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button';

interface EmptyStateProps {
  title: string;
  /** Whether it is all that the page has: its title is then that of the page. */
  isPage?: boolean;
  children?: ReactNode;
}

export function EmptyState({ title, isPage = false, children }: EmptyStateProps) {
  const Heading = isPage ? 'h1' : 'h2';
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-16 text-center text-muted">
      <Heading className="font-semibold text-base text-text">{title}</Heading>
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
