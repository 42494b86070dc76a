// The dock at the bottom of every page: the latest job, what it builds and prints, and its runs.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import clsx from 'clsx';
import { ChevronDown, ChevronUp, Square, X } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { Link } from 'react-router';
import { hasEnded, type JobOutput, jobOutputKey, jobsQuery, loadOutput } from '../api/jobs';
import { useStopJob } from '../api/mutations';
import { useCanWrite } from '../api/session';
import type { Job, JobState } from '../api/types';
import { Button, IconButton } from '../components/button';
import { Text } from '../components/text';
import { runUrl } from '../lib/addresses';
import { formatCount, pluralize } from '../lib/format';
import { escapeHidden } from '../lib/texts';

export function JobPanel() {
  const { data } = useQuery(jobsQuery());
  const [closed, setClosed] = useState<readonly string[]>();
  if (data === undefined) return null;
  // A job that had ended before the page was opened is not news.
  const isClosed = closed ?? data.jobs.filter(hasEnded).map((job) => job.id);
  if (closed === undefined) setClosed(isClosed);
  const latest = data.jobs[0];
  if (latest === undefined || isClosed.includes(latest.id)) return null;
  return <JobDock key={latest.id} job={latest} onClose={() => setClosed([...isClosed, latest.id])} />;
}

function JobDock({ job, onClose }: { job: Job; onClose: () => void }) {
  const [isOpen, setOpen] = useState(true);
  const stop = useStopJob(job.id);
  const canWrite = useCanWrite();
  const outputId = useId();
  return (
    <section
      aria-label="Job"
      className="border-line border-t bg-surface shadow-[0_-4px_16px_rgb(0_0_0/0.08)]"
    >
      <div className="mx-auto flex max-w-[96rem] flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2 sm:px-6">
        <State job={job} />
        <code
          className="min-w-0 flex-1 truncate font-mono text-xs max-sm:order-1 max-sm:basis-full"
          title={escapeHidden(job.command)}
        >
          <Text>{job.command}</Text>
        </code>
        <div className="ml-auto flex items-center gap-1">
          {!hasEnded(job) && canWrite && (
            <Button
              onClick={() => stop.mutate(undefined)}
              disabled={job.state === 'stopping' || stop.isPending}
            >
              <Square aria-hidden="true" />
              Stop
            </Button>
          )}
          <IconButton
            label={isOpen ? 'Hide output' : 'Show output'}
            aria-expanded={isOpen}
            aria-controls={outputId}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? <ChevronDown /> : <ChevronUp />}
          </IconButton>
          {hasEnded(job) && (
            <IconButton label="Close" onClick={onClose}>
              <X />
            </IconButton>
          )}
        </div>
        {stop.error && (
          <p role="alert" className="basis-full text-bad max-sm:order-1">
            {stop.error.message}
          </p>
        )}
        <Runs job={job} />
      </div>
      <div id={outputId} hidden={!isOpen}>
        {isOpen && <Output job={job} />}
      </div>
    </section>
  );
}

const STATES: Record<JobState, { name: string; look: string }> = {
  running: { name: 'Running', look: 'bg-accent-soft text-accent' },
  stopping: { name: 'Stopping', look: 'bg-accent-soft text-accent' },
  finished: { name: 'Finished', look: 'bg-sunken text-text' },
  failed: { name: 'Failed', look: 'bg-bad-soft text-bad' },
  stopped: { name: 'Stopped', look: 'bg-warn-soft text-warn' },
};

function State({ job }: { job: Job }) {
  const { name, look } = STATES[job.state];
  const isBuilding = job.state === 'running' && !job.isBuilt;
  return (
    <span role="status" className={clsx('rounded-full px-2.5 py-0.5 font-medium text-xs', look)}>
      {isBuilding ? 'Building' : name}
    </span>
  );
}

function Runs({ job }: { job: Job }) {
  if (job.runs.length === 0) return null;
  return (
    <ul className="flex basis-full flex-wrap gap-x-6 gap-y-1 max-sm:order-1">
      {job.runs.map((run) => (
        <li key={run.id} className="min-w-0">
          <Link
            to={runUrl(run.id)}
            className="font-medium text-accent underline-offset-2 hover:underline [overflow-wrap:anywhere]"
          >
            <Text>{run.name}</Text>
          </Link>{' '}
          <span className="text-muted tabular-nums">
            {run.isFinished
              ? pluralize(run.totalItems, 'item')
              : `${formatCount(run.finishedItems)} of ${pluralize(run.totalItems, 'item')}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Loads new lines whenever the job has more. */
function useOutput(job: Job): JobOutput {
  const client = useQueryClient();
  const { data, refetch } = useQuery({
    queryKey: jobOutputKey(job.id),
    queryFn: ({ signal }) => loadOutput(client, job.id, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const output = data ?? { first: 0, lines: [] };
  const end = output.first + output.lines.length;
  const isLoaded = data !== undefined;
  // Once for each number of lines: a request that fails is not repeated until there are more.
  useEffect(() => {
    if (isLoaded && end < job.lines) void refetch({ cancelRefetch: false });
  }, [isLoaded, end, job.lines, refetch]);
  return output;
}

function Output({ job }: { job: Job }) {
  const { first, lines } = useOutput(job);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines move the end
  useEffect(() => {
    if (box.current !== null && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  const onScroll = () => {
    if (box.current === null) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
  };
  return (
    <div
      ref={box}
      role="log"
      aria-label="Output"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls by keyboard
      tabIndex={0}
      onScroll={onScroll}
      className="max-h-[30dvh] min-h-16 overflow-auto border-line border-t bg-ground px-4 py-2 sm:px-6"
    >
      {first > 0 && <p className="text-muted text-xs">{pluralize(first, 'earlier line')} not shown</p>}
      {lines.length === 0 ? (
        <p className="text-muted text-xs">{hasEnded(job) ? 'No output' : 'Starting…'}</p>
      ) : (
        <pre className="font-mono text-xs leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {escapeHidden(lines.join('\n'))}
        </pre>
      )}
    </div>
  );
}
