// What is shown before runs are chosen: the newest two of each experiment, and how to choose others.
import { useQueries, useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { runsQuery } from '../../api/queries';
import type { RunRow, Runs } from '../../api/types';
import { Button, buttonLook } from '../../components/button';
import { Command, Empty } from '../../components/empty';
import { Panel } from '../../components/panel';
import { Problem } from '../../components/problem';
import { Skeleton } from '../../components/skeleton';
import { Text } from '../../components/text';
import { Time } from '../../components/time';
import { Verdict } from '../../components/verdict';
import { commit, counted } from '../../lib/format';
import { compareAddress } from './chosen';
import { inSentence, Mark, sideName } from './mark';
import { Picker } from './picker';

/** The most experiments whose newest runs are offered. */
const OFFERED = 8;

interface StartProps {
  /** The run that is chosen already, to be held against another. */
  first: string | undefined;
  choose: (ids: string[]) => void;
}

export function Start({ first, choose }: StartProps) {
  const known = useQuery(runsQuery({ limit: 1 }));
  if (known.isPending) return <Skeleton label="Loading runs" rows={4} className="h-16" />;
  if (known.isError) {
    return <Problem title="The runs could not be read" error={known.error} onRetry={() => known.refetch()} />;
  }
  if (known.data.known === 0) {
    return (
      <Empty title="There are no runs to compare yet">
        <p>Run your experiments, change something, and run them again.</p>
        <Command>cargo cobalt run</Command>
      </Empty>
    );
  }
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Choose first={first} choose={choose} />
      <Newest experiments={known.data.experiments} />
    </div>
  );
}

/** The places of the runs, each a button that opens the choice. */
function Choose({ first, choose }: StartProps) {
  const [ids, setIds] = useState<string[]>(first === undefined ? [] : [first]);
  const [place, setPlace] = useState<number>();
  const [experiment, setExperiment] = useState<string>();
  const pick = (run: RunRow) => {
    const chosen = [...ids];
    chosen[place ?? 0] = run.id;
    setIds(chosen);
    setExperiment(run.name);
    setPlace(undefined);
  };
  return (
    <Panel title="Choose the runs">
      <ol className="flex flex-col gap-2">
        {[0, 1, 2].map((index) => (
          <li key={index} className="flex items-center gap-3">
            <Mark place={index} />
            <Button
              className="min-w-0 grow justify-start!"
              disabled={index > ids.length}
              onClick={() => setPlace(index)}
            >
              {ids[index] === undefined ? (
                <span className="text-muted">
                  {sideName(index)}
                  {index === 2 && ', if wanted'}
                </span>
              ) : (
                <>
                  {sideName(index)} <code className="font-mono text-xs">{ids[index].slice(0, 12)}</code>
                </>
              )}
            </Button>
          </li>
        ))}
      </ol>
      <Button look="main" className="mt-4" disabled={ids.length < 2} onClick={() => choose(ids)}>
        Compare
      </Button>
      {place !== undefined && (
        <Picker
          title={`Choose ${inSentence(place)}`}
          experiment={experiment}
          taken={ids}
          onPick={pick}
          onClose={() => setPlace(undefined)}
        />
      )}
    </Panel>
  );
}

function Newest({ experiments }: Pick<Runs, 'experiments'>) {
  const several = experiments.filter(({ runs }) => runs > 1).slice(0, OFFERED);
  const found = useQueries({
    queries: several.map(({ name }) => runsQuery({ experiment: name, limit: 2 })),
  });
  return (
    <Panel title="The newest two runs">
      {several.length === 0 && (
        <Empty title="No experiment has two runs yet">
          <p>Change something, and run it again.</p>
          <Command>cargo cobalt run</Command>
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {several.map(({ name, runs }, index) => (
          <li key={name}>
            <Offer name={name} count={runs} newest={found[index]?.data?.runs} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Offer({ name, count, newest }: { name: string; count: number; newest: RunRow[] | undefined }) {
  const [other, base] = newest ?? [];
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 grow">
        <p className="truncate font-medium">
          <Text>{name}</Text> <span className="font-normal text-muted text-xs">{counted(count, 'run')}</span>
        </p>
        {base !== undefined && other !== undefined && (
          <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-xs">
            <Moment of={base} />
            <ArrowRight className="size-3.5" aria-label="then" />
            <Moment of={other} />
            <Verdict of={other.verdict} />
          </p>
        )}
      </div>
      {base !== undefined && other !== undefined && (
        <Link
          to={compareAddress([base.id, other.id])}
          className={buttonLook()}
          aria-label={`Compare the newest two runs of ${name}`}
        >
          Compare
        </Link>
      )}
    </div>
  );
}

function Moment({ of }: { of: RunRow }) {
  return (
    <span className="inline-flex gap-1.5">
      <Time of={of.timestamp} />
      {typeof of.gitCommit === 'string' && <code className="font-mono">{commit(of.gitCommit)}</code>}
    </span>
  );
}
