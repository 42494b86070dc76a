// The selected runs, with a link to their comparison.
import { GitCompareArrows, X } from 'lucide-react';
import { Link } from 'react-router';
import { Button, buttonLook } from '../../components/button';
import { Text } from '../../components/text';
import { formatDateTime } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { compareUrl, type SelectedRun, type SelectedRuns } from './use-selected-runs';

export function CompareBar({ selection }: { selection: SelectedRuns }) {
  const { runs } = selection;
  if (selection.ids.length === 0) return null;
  const isMixed = new Set(runs.map((run) => run.name)).size > 1;
  return (
    <section
      aria-label="Runs to compare"
      className="sticky bottom-4 z-20 mx-auto flex w-fit max-w-full flex-wrap items-center gap-2 rounded-xl border border-line bg-surface p-2 shadow-xl"
    >
      <ul className="flex min-w-0 flex-wrap gap-2">
        {runs.map((run, place) => (
          <RunChip
            key={run.id}
            run={run}
            isReference={place === 0 && runs.length > 1}
            onRemove={selection.toggle}
          />
        ))}
      </ul>
      {isMixed && <p className="px-1 text-warn text-xs">Different experiments</p>}
      <div className="ml-auto flex items-center gap-2">
        {runs.length > 1 ? (
          <Link to={compareUrl(runs)} className={buttonLook('main')}>
            <GitCompareArrows aria-hidden="true" />
            Compare {runs.length} runs
          </Link>
        ) : (
          <p className="px-2 text-muted text-xs">Select another run to compare</p>
        )}
        <Button look="bare" onClick={selection.clear}>
          Clear
        </Button>
      </div>
    </section>
  );
}

interface RunChipProps {
  run: SelectedRun;
  isReference: boolean;
  onRemove: (id: string) => void;
}

function RunChip({ run, isReference, onRemove }: RunChipProps) {
  return (
    <li className="flex min-w-0 items-center rounded-lg bg-sunken py-0.5 pl-3">
      <span className="min-w-0">
        <span className="block max-w-48 truncate font-medium text-xs">
          <Text>{run.name}</Text>
        </span>
        <span className="block text-muted text-xs tabular-nums">
          {formatDateTime(run.timestamp)}
          {isReference && ', reference'}
        </span>
      </span>
      <button
        type="button"
        aria-label={`Deselect ${escapeHidden(run.name)} (${run.id})`}
        onClick={() => onRemove(run.id)}
        className="grid size-8 shrink-0 place-items-center rounded text-muted hover:text-text"
      >
        <X className="size-4" aria-hidden="true" />
      </button>
    </li>
  );
}
