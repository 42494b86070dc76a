// A dialog in which a run is chosen: searched for, or by its experiment, the newest first.
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { runsQuery } from '../../api/queries';
import type { RunRow } from '../../api/types';
import { IconButton } from '../../components/button';
import { SearchField, SelectField } from '../../components/field';
import { Problem } from '../../components/problem';
import { Skeleton } from '../../components/skeleton';
import { Text } from '../../components/text';
import { Time } from '../../components/time';
import { Verdict } from '../../components/verdict';
import { commit, counted, score } from '../../lib/format';

/** The most runs that are offered at a time; a search finds the others. */
const OFFERED = 50;

interface PickerProps {
  title: string;
  /** The experiment whose runs are offered first. */
  experiment?: string;
  /** Runs that are chosen already. */
  taken: string[];
  onPick: (run: RunRow) => void;
  onClose: () => void;
}

export function Picker({ title, experiment: first = '', taken, onPick, onClose }: PickerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState('');
  const [experiment, setExperiment] = useState(first);
  useEffect(() => {
    const shown = dialog.current;
    // Drawn anew, as after a change of this file, it is open already.
    if (shown !== null && !shown.open) shown.showModal();
  }, []);
  const found = useQuery(runsQuery({ search, experiment, limit: OFFERED }));
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      className="m-auto h-[min(40rem,85dvh)] w-[min(44rem,calc(100vw-2rem))] overflow-hidden rounded-lg border border-line bg-surface p-0 text-text backdrop:bg-black/40"
    >
      <div className="flex h-full flex-col">
        <div className="flex items-center justify-between border-line border-b py-2 pr-2 pl-4">
          <h2 className="font-semibold">{title}</h2>
          <IconButton label="Close" onClick={() => dialog.current?.close()}>
            <X />
          </IconButton>
        </div>
        <div className="grid gap-2 border-line border-b p-3 sm:grid-cols-[1fr_14rem]">
          <SearchField label="Search runs, tags and commits" value={search} onChange={setSearch} />
          <SelectField label="Experiment" value={experiment} onChange={setExperiment}>
            <option value="">All experiments</option>
            {found.data?.experiments.map(({ name, runs }) => (
              <option key={name} value={name}>
                {name} ({runs})
              </option>
            ))}
          </SelectField>
        </div>
        <div className="grow overflow-y-auto p-2">
          {found.isPending && <Skeleton label="Loading runs" rows={6} className="h-12" />}
          {found.isError && <Problem title="The runs could not be read" error={found.error} />}
          {found.data?.runs.length === 0 && <p className="p-6 text-center text-muted">No run matches.</p>}
          <ul>
            {found.data?.runs.map((run) => (
              <li key={run.id}>
                <RunButton run={run} isTaken={taken.includes(run.id)} onPick={() => onPick(run)} />
              </li>
            ))}
          </ul>
          {found.data !== undefined && found.data.matching > OFFERED && (
            <p className="p-3 text-center text-muted text-xs">
              {counted(found.data.matching - OFFERED, 'older run')}: search to find them.
            </p>
          )}
        </div>
      </div>
    </dialog>
  );
}

function RunButton({ run, isTaken, onPick }: { run: RunRow; isTaken: boolean; onPick: () => void }) {
  const scores = Object.entries(run.avgScores);
  return (
    <button
      type="button"
      onClick={onPick}
      className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 rounded-md px-3 py-2 text-left hover:bg-sunken"
    >
      <span className="min-w-0 grow">
        <span className="flex items-baseline gap-2">
          <span className="truncate font-medium">
            <Text>{run.name}</Text>
          </span>
          <code className="font-mono text-muted text-xs">{run.id.slice(0, 12)}</code>
          {isTaken && <span className="text-accent text-xs">chosen</span>}
        </span>
        <span className="flex flex-wrap gap-x-3 text-muted text-xs">
          <Time of={run.timestamp} />
          {typeof run.gitCommit === 'string' && <code className="font-mono">{commit(run.gitCommit)}</code>}
          <span className="truncate">
            {scores
              .slice(0, 3)
              .map(([name, value], index) => `${index > 0 ? ', ' : ''}${name} ${score(value)}`)}
          </span>
        </span>
      </span>
      <Verdict of={run.verdict} />
    </button>
  );
}
