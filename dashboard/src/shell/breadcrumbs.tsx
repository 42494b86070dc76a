// Where the page is: the experiment, the run, the item.
import { useQuery } from '@tanstack/react-query';
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import { Link, useMatch } from 'react-router';
import { overviewQuery } from '../api/queries';
import { CutText } from '../components/cut-text';
import { experimentUrl, runUrl } from '../lib/addresses';
import { formatDateTime } from '../lib/format';

interface Crumb {
  name: string;
  /** Missing for the page itself. */
  to?: string;
}

const EXPERIMENTS: Crumb = { name: 'Experiments', to: '/' };

/** Renders nothing on the pages without a parent. */
export function Breadcrumbs({ fillsWindow }: { fillsWindow: boolean }) {
  const crumbs = useCrumbs();
  if (crumbs === undefined) return null;
  return <Trail crumbs={crumbs} fillsWindow={fillsWindow} />;
}

function useCrumbs(): Crumb[] | undefined {
  const experiment = useMatch('/experiments/:name')?.params.name;
  const run = useMatch('/runs/:id')?.params.id;
  const item = useMatch('/runs/:id/items/:key')?.params;
  const group = useMatch('/groups/:group')?.params.group;
  const ofRun = useRunCrumbs(run ?? item?.id, item?.key);
  if (experiment !== undefined) return [EXPERIMENTS, { name: experiment }];
  if (group !== undefined) return [EXPERIMENTS, { name: 'Variants' }];
  return ofRun;
}

/** The run's experiment, the run, and the item if there is one; undefined without a run. */
function useRunCrumbs(id: string | undefined, item: string | undefined): Crumb[] | undefined {
  const run = useQuery({ ...overviewQuery(id ?? ''), enabled: id !== undefined }).data?.run;
  if (id === undefined) return undefined;
  const name = run === undefined ? `Run ${id}` : `Run of ${formatDateTime(run.timestamp)}`;
  return [
    EXPERIMENTS,
    ...(run === undefined ? [] : [{ name: run.name, to: experimentUrl(run.name) }]),
    { name, to: item === undefined ? undefined : runUrl(id) },
    ...(item === undefined ? [] : [{ name: `Item ${item}` }]),
  ];
}

function Trail({ crumbs, fillsWindow }: { crumbs: Crumb[]; fillsWindow: boolean }) {
  return (
    <nav
      aria-label="Breadcrumbs"
      className={clsx(
        // Above the page, which it overlaps.
        'relative z-10 w-full px-4',
        fillsWindow ? 'pt-2' : 'mx-auto -mb-1 max-w-[96rem] pt-3 sm:-mb-3 sm:px-6',
      )}
    >
      <ol className="flex min-w-0 items-center gap-1 text-muted text-xs">
        {crumbs.map(({ name, to }, place) => (
          <li key={to ?? name} className="flex min-w-0 items-center gap-1 first:shrink-0">
            {place > 0 && <ChevronRight aria-hidden="true" className="size-3.5 shrink-0" />}
            {to === undefined ? (
              <span aria-current="page" className="flex min-w-0">
                <CutText>{name}</CutText>
              </span>
            ) : (
              <Link to={to} className="flex min-w-0 rounded hover:text-text hover:underline">
                <CutText>{name}</CutText>
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
