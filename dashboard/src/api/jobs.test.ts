import { QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { mockServer } from '../test/server';
import { jobOutputKey, jobsQuery, loadOutput, updateJob } from './jobs';
import type { Job } from './types';

const JOB: Job = {
  id: '0f',
  kind: 'run',
  command: 'cargo cobalt run',
  state: 'running',
  startedAt: '2026-02-05T10:00:00.000Z',
  isBuilt: false,
  runs: [],
  lines: 0,
};

test('a job is added once and then updated', () => {
  const client = new QueryClient();
  updateJob(client, JOB);
  updateJob(client, { ...JOB, id: '1f' });
  updateJob(client, { ...JOB, state: 'finished' });
  const jobs = client.getQueryData(jobsQuery().queryKey)?.jobs;
  expect(jobs?.map(({ id, state }) => [id, state])).toEqual([
    ['1f', 'running'],
    ['0f', 'finished'],
  ]);
});

test('only new lines are loaded, and lines that the server has dropped are counted', async () => {
  const client = new QueryClient();
  const { signal } = new AbortController();
  let answer = { job: JOB, first: 0, output: ['a', 'b'] };
  const requests = mockServer({ '/api/jobs/0f': () => answer });
  const load = async () => {
    const output = await loadOutput(client, '0f', signal);
    client.setQueryData(jobOutputKey('0f'), output);
    return output;
  };
  expect(await load()).toEqual({ first: 0, lines: ['a', 'b'] });
  answer = { job: JOB, first: 2, output: ['c'] };
  expect(await load()).toEqual({ first: 0, lines: ['a', 'b', 'c'] });
  expect(requests.map((url) => url.search)).toEqual(['?after=0', '?after=2']);
  answer = { job: JOB, first: 900, output: ['z'] };
  expect(await load()).toEqual({ first: 900, lines: ['z'] });
});
