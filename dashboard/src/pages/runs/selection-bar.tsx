// The selected runs and what can be done with them, at the bottom of the window.

import { GitCompareArrows, X } from 'lucide-react';
import { Link } from 'react-router';
import { DeleteButton } from '../../actions/delete-button';
import { Button, buttonLook } from '../../components/button';
import { CutText } from '../../components/cut-text';
import { Docked } from '../../components/dock';
import { comparisonUrl, MAX_COMPARED } from '../../lib/addresses';
import { formatDateTime, pluralize } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import type { SelectedRun, SelectedRuns } from './use-selected-runs';

export function SelectionBar({ selection }: { selection: SelectedRuns }) {
  const { ids, runs } = selection;
  if (ids.length === 0) return null;
  const isMixed = new Set(runs.map((run) => run.name)).size > 1;
  return (
    <Docked>
      <section
        aria-label="Selected runs"
        className="border-line border-t bg-surface shadow-[0_-4px_16px_rgb(0_0_0/0.08)]"
      >
        <div className="mx-auto flex max-w-[96rem] flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2 sm:px-6">
          <p className="shrink-0 font-medium tabular-nums">{pluralize(ids.length, 'run')} selected</p>
          {ids.length <= MAX_COMPARED && <Chips runs={runs} onRemove={selection.toggle} />}
          {isMixed && <p className="text-warn text-xs">Different experiments</p>}
          <div className="ml-auto flex flex-wrap items-center gap-2">
            <Compare runs={runs} count={ids.length} />
            <DeleteButton ids={ids} onDeleted={selection.clear} />
            <Button look="bare" onClick={selection.clear}>
              Clear
            </Button>
          </div>
        </div>
      </section>
    </Docked>
  );
}

function Compare({ runs, count }: { runs: SelectedRun[]; count: number }) {
  if (count === 1) return <p className="text-muted text-xs">Select another run to compare</p>;
  if (count > MAX_COMPARED) return <p className="text-muted text-xs">You can compare up to eight runs</p>;
  const ids = runs.map((run) => run.id);
  const newest = ids.at(-1);
  if (newest === undefined || ids.length < 2) return null;
  return (
    <Link to={comparisonUrl(newest, ids.slice(0, -1))} className={buttonLook('main')}>
      <GitCompareArrows aria-hidden="true" />
      Compare {runs.length} runs
    </Link>
  );
}

function Chips({ runs, onRemove }: { runs: SelectedRun[]; onRemove: (id: string) => void }) {
  return (
    <ul className="flex min-w-0 flex-1 gap-2 overflow-x-auto py-0.5 max-sm:hidden">
      {runs.map((run, place) => (
        <li
          key={run.id}
          className="flex min-w-0 max-w-56 shrink-0 items-center rounded-lg bg-sunken py-0.5 pl-3"
        >
          <span className="min-w-0">
            <CutText className="font-medium text-xs">{run.name}</CutText>
            <span className="block text-muted text-xs tabular-nums">
              {formatDateTime(run.timestamp)}
              {place === 0 && runs.length > 1 && ', reference'}
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
      ))}
    </ul>
  );
}
