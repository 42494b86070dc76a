import { expect, test, vi } from 'vitest';
import { getJson } from './client';

const messageOf = async (error: string) => {
  vi.stubGlobal('fetch', async () => Response.json({ error }, { status: 400 }));
  return getJson('/api/runs').catch((failure: Error) => failure.message);
};

test('errors are in plain words, without backticks and endpoints', async () => {
  expect(await messageOf('no job `7`; `/api/jobs` lists the latest jobs')).toBe('no job 7');
  expect(await messageOf('`latency` is a number; use a number, as in `latency>=1`')).toBe(
    'latency is a number; use a number, as in latency>=1',
  );
});
