// The header: project, pages, search and runs in progress.
import { useQuery } from '@tanstack/react-query';
import { Keyboard, Search } from 'lucide-react';
import { Link, useLocation, useNavigation } from 'react-router';
import { useLive } from '../api/events';
import { indexQuery } from '../api/queries';
import { IconButton } from '../components/button';
import { Key } from '../components/key';
import { ALL_RUNS } from '../lib/addresses';
import { pluralize } from '../lib/format';
import { Logo } from './logo';
import { RemoteStoreName } from './remote-store';
import { ThemeButton } from './theme';

export const PAGES = [
  { to: '/', name: 'Experiments' },
  { to: ALL_RUNS, name: 'All runs' },
];

/** The modifier key for shortcuts on this platform. */
export const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

const PAGE_LINK = [
  'relative flex items-center whitespace-nowrap px-2 text-muted hover:text-text sm:px-3',
  'aria-[current=page]:font-medium aria-[current=page]:text-text',
  'aria-[current=page]:after:absolute aria-[current=page]:after:inset-x-2 aria-[current=page]:after:bottom-0',
  'aria-[current=page]:after:h-0.5 aria-[current=page]:after:rounded-full aria-[current=page]:after:bg-accent',
].join(' ');

export function Header({ onSearch, onShortcuts }: { onSearch: () => void; onShortcuts: () => void }) {
  const isLoading = useNavigation().state === 'loading';
  const current = useCurrentPage();
  return (
    <header className="sticky top-0 z-30 border-line border-b bg-surface">
      <div className="mx-auto flex h-13 max-w-[96rem] items-center gap-1 px-4 sm:gap-4 sm:px-6">
        <HomeLink />
        <nav aria-label="Pages" className="flex h-full items-stretch">
          {PAGES.map(({ to, name }) => (
            <Link key={to} to={to} aria-current={to === current ? 'page' : undefined} className={PAGE_LINK}>
              {name}
            </Link>
          ))}
        </nav>
        <div className="ml-auto flex items-center gap-1 sm:gap-2">
          <RemoteStoreName />
          <RunningCount />
          <SearchButton onClick={onSearch} />
          <IconButton label="Keyboard shortcuts" onClick={onShortcuts} className="max-md:hidden">
            <Keyboard />
          </IconButton>
          <ThemeButton />
        </div>
      </div>
      {isLoading && (
        <div className="absolute bottom-0 h-0.5 w-1/3 animate-pulse bg-accent" aria-hidden="true" />
      )}
    </header>
  );
}

/** The address of the current page, if the header has it: two of them differ only in a parameter. */
function useCurrentPage(): string | undefined {
  const { pathname, search } = useLocation();
  if (pathname !== '/') return undefined;
  return new URLSearchParams(search).get('view') === 'runs' ? ALL_RUNS : '/';
}

/** The logo and the project's name; links to the experiments. */
function HomeLink() {
  const project = useQuery(indexQuery()).data?.project;
  return (
    <Link to="/" className="flex min-w-0 items-center gap-2" aria-label="Cobalt, experiments">
      <Logo />
      <span className="font-semibold max-md:hidden">Cobalt</span>
      {project !== undefined && (
        <span className="flex min-w-0 items-center gap-2 max-md:hidden" title={project}>
          <span className="text-line" aria-hidden="true">
            /
          </span>
          <span className="max-w-48 truncate text-muted">{project}</span>
        </span>
      )}
    </Link>
  );
}

function SearchButton({ onClick }: { onClick: () => void }) {
  return (
    <>
      <button
        type="button"
        onClick={onClick}
        className="flex h-9 w-56 items-center gap-2 rounded-md border border-line bg-ground px-3 text-muted hover:text-text max-lg:hidden"
      >
        <Search className="size-4" aria-hidden="true" />
        Go to…
        <span className="ml-auto flex gap-1" aria-hidden="true">
          <Key>{COMMAND_KEY}</Key>
          <Key>K</Key>
        </span>
      </button>
      <IconButton label="Go to…" onClick={onClick} className="lg:hidden">
        <Search />
      </IconButton>
    </>
  );
}

/** The number of runs in progress. */
function RunningCount() {
  const running = useLive().runs.filter((run) => run.state === 'running').length;
  if (running === 0) return null;
  return (
    <Link
      to="/"
      aria-label={`${pluralize(running, 'run')} in progress`}
      className="flex items-center gap-2 rounded-full bg-accent-soft px-2.5 py-1 text-accent text-xs whitespace-nowrap"
    >
      <span className="size-2 animate-pulse rounded-full bg-accent" />
      <span className="max-sm:hidden">{pluralize(running, 'run')} in progress</span>
      <span className="sm:hidden">{running}</span>
    </Link>
  );
}
