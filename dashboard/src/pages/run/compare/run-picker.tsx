// A dialog to select a run by search or experiment, latest first.

import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { runsQuery } from '../../../api/queries';
import type { RunRow } from '../../../api/types';
import { Button, IconButton } from '../../../components/button';
import { CutText } from '../../../components/cut-text';
import { ErrorMessage } from '../../../components/error-message';
import { SearchField } from '../../../components/field';
import { Modal } from '../../../components/modal';
import { Select } from '../../../components/select';
import { Skeleton } from '../../../components/skeleton';
import { Verdict } from '../../../components/verdict';
import { formatDateTime, formatScore, pluralize, shortCommit } from '../../../lib/format';
import { escapeHidden } from '../../../lib/texts';
import type { SuggestedRun } from './reference';

/** The maximum number of runs listed; the search finds the others. */
const MAX_RUNS = 50;

interface RunPickerProps {
  title: string;
  /** Shown above the others. */
  suggested: SuggestedRun[];
  /** The experiment that is selected initially. */
  experiment?: string;
  /** The runs that are already selected. */
  selected: string[];
  onSelect: (id: string) => void;
  onClose: () => void;
}

export function RunPicker({
  title,
  suggested,
  experiment: initialExperiment = '',
  selected,
  onSelect,
  onClose,
}: RunPickerProps) {
  const [search, setSearch] = useState('');
  const [experiment, setExperiment] = useState(initialExperiment);
  const query = useQuery(runsQuery({ search, experiment, limit: MAX_RUNS }));
  return (
    <Modal
      label={title}
      onClose={onClose}
      className="h-[min(40rem,85dvh)] w-[min(44rem,calc(100vw-2rem))] overflow-hidden"
    >
      <div className="flex h-full flex-col">
        <div className="flex items-center justify-between border-line border-b py-2 pr-2 pl-4">
          <h2 className="font-semibold">{title}</h2>
          <IconButton label="Close" onClick={onClose}>
            <X />
          </IconButton>
        </div>
        <div className="grid gap-2 border-line border-b p-3 sm:grid-cols-[1fr_14rem]">
          <SearchField label="Search runs, tags and commits" value={search} onChange={setSearch} />
          <Select
            label="Experiment"
            value={experiment}
            options={[
              { value: '', name: 'All experiments' },
              ...(query.data?.experiments ?? []).map(({ name, runs }) => ({
                value: name,
                name: `${escapeHidden(name)} (${runs})`,
              })),
            ]}
            onChange={setExperiment}
          />
        </div>
        <div className="grow overflow-y-auto p-2">
          {suggested.length > 0 && (
            <p className="flex flex-wrap gap-2 px-1 pb-2">
              {suggested.map(({ id, name }) => (
                <Button key={name} onClick={() => onSelect(id)}>
                  <span className="inline-block first-letter:uppercase">{name}</span>{' '}
                  <code className="font-mono font-normal text-muted text-xs">{id.slice(0, 12)}</code>
                </Button>
              ))}
            </p>
          )}
          {query.isPending && <Skeleton label="Loading runs" rows={6} className="h-12" />}
          {query.isError && <ErrorMessage title="Failed to load the runs" error={query.error} />}
          {query.data?.runs.length === 0 && <p className="p-6 text-center text-muted">No runs match</p>}
          <ul>
            {query.data?.runs.map((run) => (
              <li key={run.id}>
                <RunButton
                  run={run}
                  isSelected={selected.includes(run.id)}
                  onSelect={() => onSelect(run.id)}
                />
              </li>
            ))}
          </ul>
          {query.data !== undefined && query.data.matching > MAX_RUNS && (
            <p className="p-3 text-center text-muted text-xs">
              Search to find {pluralize(query.data.matching - MAX_RUNS, 'older run')}.
            </p>
          )}
        </div>
      </div>
    </Modal>
  );
}

function RunButton({
  run,
  isSelected,
  onSelect,
}: {
  run: RunRow;
  isSelected: boolean;
  onSelect: () => void;
}) {
  const scores = Object.entries(run.avgScores);
  return (
    <button
      type="button"
      onClick={onSelect}
      className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 rounded-md px-3 py-2 text-left hover:bg-sunken"
    >
      <span className="min-w-0 grow">
        <span className="flex items-baseline gap-2">
          <CutText className="font-medium">{run.name}</CutText>
          <code className="font-mono text-muted text-xs">{run.id.slice(0, 12)}</code>
          {isSelected && <span className="text-accent text-xs">selected</span>}
        </span>
        <span className="flex flex-wrap gap-x-3 text-muted text-xs">
          <time dateTime={run.timestamp} className="whitespace-nowrap tabular-nums">
            {formatDateTime(run.timestamp)}
          </time>
          {typeof run.gitCommit === 'string' && (
            <code className="font-mono">{shortCommit(run.gitCommit)}</code>
          )}
          <span className="truncate">
            {scores
              .slice(0, 3)
              .map(([name, value], index) => `${index > 0 ? ', ' : ''}${name} ${formatScore(value)}`)}
          </span>
        </span>
      </span>
      <Verdict verdict={run.verdict} />
    </button>
  );
}
