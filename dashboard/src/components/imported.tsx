// A part of the page whose code is loaded on first use, and a message in its place if that fails.
import clsx from 'clsx';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { type Load, startImport, useHasFailed, useImport } from '../lib/use-import';
import { Button } from './button';

interface ImportedProps<Module> {
  load: Load<Module>;
  /** The part, for the message: "the chart". */
  name: string;
  /** Shown until the module is loaded. */
  placeholder: ReactNode;
  /** Whether it is all that the page has: the title of the message is then that of the page. */
  isPage?: boolean;
  children: (module: Module) => ReactNode;
}

export function Imported<Module>({ load, name, placeholder, isPage, children }: ImportedProps<Module>) {
  const module = useImport(load);
  const hasFailed = useHasFailed(load);
  if (module !== undefined) return children(module);
  return hasFailed ? <FailedImport name={name} load={load} isPage={isPage} /> : placeholder;
}

/** Reloading while the server is unreachable would lose the page, so retrying comes first. */
export function FailedImport({
  name,
  load,
  isPage = false,
}: Pick<ImportedProps<unknown>, 'name' | 'load' | 'isPage'>) {
  const Title = isPage ? 'h1' : 'p';
  return (
    <div
      role="alert"
      className={clsx(
        'flex max-w-xl flex-wrap items-center gap-3 rounded-lg border border-bad bg-surface p-4',
        isPage && 'mx-auto my-8',
      )}
    >
      <div className="flex min-w-60 flex-1 gap-3">
        <CircleAlert className="mt-0.5 size-5 shrink-0 text-bad" aria-hidden="true" />
        <div>
          <Title className="font-semibold">Failed to load {name}</Title>
          <p className="text-muted">
            Check that <code className="font-mono">cargo cobalt serve</code> is running. If it was updated,
            reload the page.
          </p>
        </div>
      </div>
      <RetryButtons onRetry={() => void startImport(load)} />
    </div>
  );
}

/** Loads missing code again: from the same server, or after an update of the server with the whole page. */
export function RetryButtons({ onRetry }: { onRetry: () => void }) {
  return (
    <span className="flex gap-2">
      <Button onClick={onRetry}>Try again</Button>
      <Button onClick={() => window.location.reload()}>Reload page</Button>
    </span>
  );
}
