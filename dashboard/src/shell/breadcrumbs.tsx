// Where the page is: the experiment, the run, the item.
import { useQuery } from '@tanstack/react-query';
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import { Link, useMatch } from 'react-router';
import { overviewQuery } from '../api/queries';
import { CutText } from '../components/cut-text';
import { experimentUrl, runUrl } from '../lib/addresses';
import { formatDateTime } from '../lib/format';
import { useFillsWindow } from './page-layout';

interface Crumb {
  name: string;
  /** Missing for the page itself. */
  to?: string;
}

const EXPERIMENTS: Crumb = { name: 'Experiments', to: '/' };

/** Renders nothing on the pages without a parent. */
export function Breadcrumbs() {
  const experiment = useMatch('/experiments/:name')?.params.name;
  const run = useMatch('/runs/:id')?.params.id;
  const item = useMatch('/runs/:id/items/:key')?.params;
  const group = useMatch('/groups/:group')?.params.group;
  if (experiment !== undefined) return <Trail crumbs={[EXPERIMENTS, { name: experiment }]} />;
  if (run !== undefined) return <RunTrail id={run} />;
  if (item?.id !== undefined) return <RunTrail id={item.id} item={item.key} />;
  if (group !== undefined) return <Trail crumbs={[EXPERIMENTS, { name: 'Variants' }]} />;
  return null;
}

function RunTrail({ id, item }: { id: string; item?: string }) {
  const run = useQuery(overviewQuery(id)).data?.run;
  const name = run === undefined ? `Run ${id}` : `Run of ${formatDateTime(run.timestamp)}`;
  return (
    <Trail
      crumbs={[
        EXPERIMENTS,
        ...(run === undefined ? [] : [{ name: run.name, to: experimentUrl(run.name) }]),
        { name, to: item === undefined ? undefined : runUrl(id) },
        ...(item === undefined ? [] : [{ name: `Item ${item}` }]),
      ]}
    />
  );
}

function Trail({ crumbs }: { crumbs: Crumb[] }) {
  const fillsWindow = useFillsWindow();
  return (
    <nav
      aria-label="Breadcrumbs"
      className={clsx(
        'w-full px-4 pt-3',
        fillsWindow ? '-mb-1' : 'mx-auto -mb-1 max-w-[96rem] sm:-mb-3 sm:px-6',
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
