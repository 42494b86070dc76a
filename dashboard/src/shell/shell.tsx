// What lies around every page: where one can go, the theme, and whether the server is there.
import { NavLink, Outlet, ScrollRestoration, useNavigation } from 'react-router';
import { useLive } from '../api/events';
import { counted } from '../lib/format';
import { Logo } from './logo';
import { ThemeButton } from './theme';

const PAGES = [
  { to: '/', name: 'Runs' },
  { to: '/compare', name: 'Compare' },
  { to: '/trends', name: 'Trends' },
];

export function Shell() {
  const isLoading = useNavigation().state === 'loading';
  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#content"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <header className="sticky top-0 z-30 border-line border-b bg-surface">
        <div className="mx-auto flex h-13 max-w-[96rem] items-center gap-1 px-4 sm:gap-4 sm:px-6">
          <NavLink to="/" className="flex items-center gap-2 font-semibold" aria-label="Cobalt, all runs">
            <Logo />
            <span className="max-sm:hidden">Cobalt</span>
          </NavLink>
          <nav aria-label="Pages" className="flex h-full items-stretch">
            {PAGES.map(({ to, name }) => (
              <NavLink
                key={to}
                to={to}
                end={to === '/'}
                className="relative flex items-center px-3 text-muted hover:text-text aria-[current=page]:text-text aria-[current=page]:after:absolute aria-[current=page]:after:inset-x-3 aria-[current=page]:after:bottom-0 aria-[current=page]:after:h-0.5 aria-[current=page]:after:bg-accent"
              >
                {name}
              </NavLink>
            ))}
          </nav>
          <div className="ml-auto flex items-center gap-2">
            <Running />
            <ThemeButton />
          </div>
        </div>
        <div className="h-0.5" aria-hidden="true">
          {isLoading && <div className="h-full w-1/3 animate-pulse bg-accent" />}
        </div>
      </header>
      <Disconnected />
      <main id="content" tabIndex={-1} className="mx-auto w-full max-w-[96rem] grow p-4 outline-none sm:p-6">
        <Outlet />
      </main>
      <ScrollRestoration getKey={({ pathname }) => pathname} />
    </div>
  );
}

/** How many runs are going on. */
function Running() {
  const running = useLive().runs.filter((run) => run.state === 'running').length;
  if (running === 0) return null;
  return (
    <NavLink
      to="/"
      className="flex items-center gap-2 rounded-full bg-accent-soft px-3 py-1 text-accent text-xs"
    >
      <span className="size-2 animate-pulse rounded-full bg-accent" aria-hidden="true" />
      {counted(running, 'run')} going on
    </NavLink>
  );
}

function Disconnected() {
  if (useLive().isConnected) return null;
  return (
    <p role="status" className="bg-warn-soft px-6 py-2 text-center text-warn">
      The server does not answer; what you see may be old. Run <code>cargo cobalt serve</code> again.
    </p>
  );
}
