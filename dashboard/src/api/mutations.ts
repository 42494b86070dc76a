// The changes that the page can make.
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiError, sendJson } from './client';
import { updateJob } from './jobs';
import { RESULT_KEYS } from './queries';
import type { DeletedRuns, Job, LabelledRun, LabelsChange, SaveBaseline, SavedRun, StartJob } from './types';

const encode = encodeURIComponent;

/** Asks again whether the page may make changes, if one was rejected: the server was restarted, with another token. */
function checkSession(client: QueryClient, error: Error) {
  if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
    void client.invalidateQueries({ queryKey: ['session'] });
  }
}

/** A change; afterwards, everything that depends on runs is loaded again. */
function useChange<Input, Output>(change: (input: Input) => Promise<Output>, keys = RESULT_KEYS) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] }))),
    onError: (error) => checkSession(client, error),
  });
}

export const useSaveBaseline = (id: string) =>
  useChange((allowed: SaveBaseline) =>
    sendJson<SavedRun>('POST', `/api/runs/${encode(id)}/baseline`, allowed),
  );

export const useUpdateRun = (id: string) =>
  useChange((labels: LabelsChange) => sendJson<LabelledRun>('PATCH', `/api/runs/${encode(id)}`, labels));

/** Says what deleting runs would free. */
export const planDeletion = (ids: string[]) =>
  sendJson<DeletedRuns>('POST', '/api/runs/delete', { ids, dryRun: true });

export const useDeleteRuns = () =>
  useChange(
    (ids: string[]) => sendJson<DeletedRuns>('POST', '/api/runs/delete', { ids }),
    // The page of a deleted run is left first.
    RESULT_KEYS.filter((key) => key !== 'run'),
  );

/** Starts or stops a job. */
function useJobChange<Input>(change: (input: Input) => Promise<Job>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (job) => updateJob(client, job),
    onError: (error) => checkSession(client, error),
  });
}

export const useStartJob = () =>
  useJobChange((request: StartJob) => sendJson<Job>('POST', '/api/jobs', request));

export const useStopJob = (id: string) =>
  useJobChange(() => sendJson<Job>('POST', `/api/jobs/${encode(id)}/stop`, {}));
