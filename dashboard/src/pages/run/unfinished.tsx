// The progress of an unfinished run, or how to resume an interrupted one.
import { CirclePause } from 'lucide-react';
import { useLive } from '../../api/events';
import type { Overview } from '../../api/types';
import { CommandSnippet } from '../../components/empty-state';
import { formatCount, formatDuration, formatPercent } from '../../lib/format';

export function Unfinished({ overview }: { overview: Overview }) {
  if (overview.state === 'running') return <Running overview={overview} />;
  if (overview.state === 'cut-off') return <Interrupted overview={overview} />;
  return null;
}

function Running({ overview }: { overview: Overview }) {
  const live = useLive().runs.find((run) => run.id === overview.run.id);
  // Events may be newer than the overview.
  const finished = Math.max(live?.finishedItems ?? 0, overview.finishedItems);
  const planned = live?.totalItems ?? overview.plannedItems;
  const left = finished > 0 && live ? (live.elapsedMs / finished) * (planned - finished) : undefined;
  return (
    <section aria-label="Progress" className="rounded-lg border border-accent bg-accent-soft px-4 py-3">
      <div className="mb-2 flex flex-wrap justify-between gap-x-4">
        <p className="font-medium text-accent">
          {formatCount(finished)} of {formatCount(planned)} items
        </p>
        <p className="text-muted">
          {live && `${formatDuration(live.elapsedMs)} elapsed`}
          {left !== undefined && left > 0 && `, about ${formatDuration(left)} left`}
        </p>
      </div>
      <progress className="sr-only" value={finished} max={planned} aria-label="Finished items" />
      <div className="h-2 overflow-hidden rounded-full bg-surface" aria-hidden="true">
        <div
          className="h-full rounded-full bg-accent transition-[width] duration-500"
          style={{ width: formatPercent(finished / Math.max(planned, 1)) }}
        />
      </div>
    </section>
  );
}

function Interrupted({ overview }: { overview: Overview }) {
  const { finishedItems, plannedItems, run } = overview;
  return (
    <section
      aria-label="Interrupted"
      className="flex flex-wrap items-center gap-x-6 gap-y-3 rounded-lg border border-warn bg-warn-soft px-4 py-3"
    >
      <p className="flex min-w-60 flex-1 gap-3">
        <CirclePause className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden="true" />
        <span>
          <span className="font-medium text-warn">
            Interrupted after {formatCount(finishedItems)} of {formatCount(plannedItems)} items.
          </span>{' '}
          Finished items are saved. Resume with:
        </span>
      </p>
      <CommandSnippet>{`cargo cobalt run --resume ${run.id}`}</CommandSnippet>
    </section>
  );
}
