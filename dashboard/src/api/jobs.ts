// The jobs of the server, and their output.
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { getJson } from './client';
import type { Job, JobList, JobWithOutput } from './types';

export const hasEnded = (job: Job) => job.state !== 'running' && job.state !== 'stopping';

export const jobsQuery = () =>
  queryOptions({
    queryKey: ['jobs'],
    queryFn: ({ signal }) => getJson<JobList>('/api/jobs', {}, signal),
  });

/** Stores the new state of a job. */
export function updateJob(client: QueryClient, job: Job) {
  client.setQueryData(jobsQuery().queryKey, (list) => {
    const jobs = list?.jobs ?? [];
    const isKnown = jobs.some(({ id }) => id === job.id);
    return { jobs: isKnown ? jobs.map((other) => (other.id === job.id ? job : other)) : [job, ...jobs] };
  });
}

/** The lines of a job's output, and how many earlier ones were dropped. */
export interface JobOutput {
  first: number;
  lines: string[];
}

/** The most lines that the page keeps. */
const MAX_LINES = 5000;

export const jobOutputKey = (id: string) => ['job-output', id];

/** Loads the lines that are missing. */
export async function loadOutput(client: QueryClient, id: string, signal: AbortSignal): Promise<JobOutput> {
  const known = client.getQueryData<JobOutput>(jobOutputKey(id)) ?? { first: 0, lines: [] };
  const after = known.first + known.lines.length;
  const answer = await getJson<JobWithOutput>(`/api/jobs/${encodeURIComponent(id)}`, { after }, signal);
  const isContinued = answer.first === after;
  const lines = isContinued ? [...known.lines, ...answer.output] : answer.output;
  const surplus = Math.max(0, lines.length - MAX_LINES);
  return { first: (isContinued ? known.first : answer.first) + surplus, lines: lines.slice(surplus) };
}
