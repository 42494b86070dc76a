// Unfinished runs: their progress, or how to resume them.
import { useEffect, useState } from 'react';
import { Link } from 'react-router';
import { useLive } from '../../api/events';
import type { LiveRun } from '../../api/types';
import { CutText } from '../../components/cut-text';
import { CommandSnippet } from '../../components/empty-state';
import { DateTime } from '../../components/time';
import { Verdict } from '../../components/verdict';
import { runUrl } from '../../lib/addresses';
import { formatCount, formatDuration, formatScore, pluralize } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';

/** The number of interrupted runs shown initially. */
const INITIALLY_SHOWN = 2;

/** Shows the runs of the latest event; before the first event, those of the runs list. */
export function UnfinishedRuns({ listed }: { listed: LiveRun[] }) {
  const { hasReceived, runs: liveRuns } = useLive();
  const [isOpen, setIsOpen] = useState(false);
  const runs = hasReceived ? liveRuns : listed;
  const running = runs.filter((run) => run.state === 'running');
  const interrupted = runs.filter((run) => run.state === 'cut-off');
  const shown = isOpen ? interrupted : interrupted.slice(0, INITIALLY_SHOWN);
  if (running.length + interrupted.length === 0) return null;
  return (
    <section aria-label="Unfinished runs" className="rounded-lg border border-line bg-surface">
      <ul className="divide-y divide-line">
        {running.map((run) => (
          <Running key={run.id} run={run} />
        ))}
        {shown.map((run) => (
          <Interrupted key={run.id} run={run} />
        ))}
      </ul>
      {shown.length < interrupted.length && (
        <button
          type="button"
          onClick={() => setIsOpen(true)}
          className="w-full border-line border-t py-2 text-accent text-xs hover:underline"
        >
          Show {formatCount(interrupted.length - shown.length)} more interrupted runs
        </button>
      )}
    </section>
  );
}

const ROW = 'flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3';

function Name({ run }: { run: LiveRun }) {
  return (
    <span className="flex min-w-0 items-center gap-3 md:w-72">
      <Verdict verdict={run.state} />
      <Link to={runUrl(run.id)} className="flex min-w-0 font-medium hover:text-accent hover:underline">
        <CutText>{run.name}</CutText>
      </Link>
      {run.partial && <span className="text-muted text-xs">partial</span>}
    </span>
  );
}

function Running({ run }: { run: LiveRun }) {
  return (
    <li className={ROW}>
      <Name run={run} />
      <Progress run={run} />
      <span className="text-muted tabular-nums">
        {formatCount(run.finishedItems)} of {pluralize(run.totalItems, 'item')}
      </span>
      {run.errorItems > 0 && <span className="text-bad">{pluralize(run.errorItems, 'error')}</span>}
      <ScoresSoFar run={run} />
      <span className="text-muted tabular-nums md:ml-auto">
        <Elapsed ms={run.elapsedMs} />
      </span>
    </li>
  );
}

function Progress({ run }: { run: LiveRun }) {
  const share = run.totalItems === 0 ? 0 : run.finishedItems / run.totalItems;
  return (
    <div
      role="progressbar"
      aria-label={`Progress of ${escapeHidden(run.name)}`}
      aria-valuemin={0}
      aria-valuemax={run.totalItems}
      aria-valuenow={run.finishedItems}
      className="h-2 w-full overflow-hidden rounded-full bg-sunken md:w-56"
    >
      <div
        className="h-full rounded-full bg-accent transition-[width] duration-300"
        style={{ width: `${100 * share}%` }}
      />
    </div>
  );
}

function ScoresSoFar({ run }: { run: LiveRun }) {
  return Object.entries(run.avgScores).map(([name, value]) => (
    <span key={name} className="flex max-w-48 items-baseline gap-1">
      <CutText className="text-muted text-xs">{name}</CutText>
      <span className="tabular-nums">{formatScore(value)}</span>
    </span>
  ));
}

/** The elapsed time of a run; it also advances between events. */
function Elapsed({ ms }: { ms: number }) {
  const [since, setSince] = useState({ ms, receivedAt: Date.now() });
  const [now, setNow] = useState(since.receivedAt);
  if (since.ms !== ms) setSince({ ms, receivedAt: Date.now() });
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return formatDuration(ms + Math.max(0, now - since.receivedAt));
}

function Interrupted({ run }: { run: LiveRun }) {
  return (
    <li className={ROW}>
      <Name run={run} />
      <span className="text-muted tabular-nums">
        {formatCount(run.finishedItems)} of {pluralize(run.totalItems, 'item')},{' '}
        <DateTime timestamp={run.timestamp} />
      </span>
      <span className="flex min-w-0 items-center gap-2 md:ml-auto">
        <span className="text-muted max-lg:sr-only">Resume:</span>
        <CommandSnippet>{`cargo cobalt run --resume ${run.id}`}</CommandSnippet>
      </span>
    </li>
  );
}
