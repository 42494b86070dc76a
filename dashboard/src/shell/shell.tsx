// The frame of every page: header, shortcuts, and a warning if the server is unreachable.
import clsx from 'clsx';
import { useEffect, useMemo, useState } from 'react';
import { Outlet, ScrollRestoration } from 'react-router';
import { JobPanel } from '../actions/job-panel';
import { useLive } from '../api/events';
import { DockArea } from '../components/dock';
import { type KeyHandlers, useKeys } from '../lib/use-keys';
import { Breadcrumbs } from './breadcrumbs';
import { FormattingWarning } from './formatting-warning';
import { Header } from './header';
import { LoadedPalette } from './loaded-palette';
import { useFillsWindow } from './page-layout';
import { RemoteStoreWarning } from './remote-store';
import { Shortcuts } from './shortcuts';

export function Shell() {
  const [open, setOpen] = useState<'palette' | 'shortcuts'>();
  useShellKeys(setOpen);
  const fillsWindow = useFillsWindow();
  const close = () => setOpen(undefined);
  return (
    <div className={clsx('flex flex-col', fillsWindow ? 'h-dvh min-h-120' : 'min-h-dvh')}>
      <a
        href="#content"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <Header onSearch={() => setOpen('palette')} onShortcuts={() => setOpen('shortcuts')} />
      <ConnectionWarning />
      <RemoteStoreWarning />
      <FormattingWarning />
      <Breadcrumbs fillsWindow={fillsWindow} />
      <main
        id="content"
        tabIndex={-1}
        className={clsx(
          'w-full grow outline-none',
          fillsWindow ? 'flex min-h-0 flex-col' : 'mx-auto max-w-[96rem] p-4 sm:p-6',
        )}
      >
        <Outlet />
      </main>
      <DockArea>
        <JobPanel />
      </DockArea>
      {open === 'palette' && <LoadedPalette onClose={close} onShortcuts={() => setOpen('shortcuts')} />}
      {open === 'shortcuts' && <Shortcuts onClose={close} />}
      <ScrollRestoration getKey={({ pathname }) => pathname} />
    </div>
  );
}

/** Global keyboard shortcuts. */
function useShellKeys(open: (what: 'palette' | 'shortcuts') => void) {
  useEffect(() => {
    // Must also work while the user types in a field.
    const press = (event: KeyboardEvent) => {
      const isPaletteKey =
        event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey) && !event.altKey;
      if (!isPaletteKey || event.shiftKey) return;
      event.preventDefault();
      open('palette');
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [open]);

  const keys = useMemo(
    (): KeyHandlers => ({
      '?': () => open('shortcuts'),
      '/': (event) => {
        const field = document.querySelector<HTMLElement>('main input[type=search]');
        if (field === null) return;
        event.preventDefault();
        field.focus();
      },
    }),
    [open],
  );
  useKeys(keys);
}

function ConnectionWarning() {
  if (useLive().isConnected) return null;
  return (
    <p role="status" className="bg-warn-soft px-6 py-2 text-center text-warn">
      Can't reach the server; the page may be outdated. Restart <code>cargo cobalt serve</code>.
    </p>
  );
}
