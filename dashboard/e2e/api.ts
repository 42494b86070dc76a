// What tests ask of the API.
import type { APIRequestContext } from '@playwright/test';
import type { Items, Runs } from '../src/api/types';

export const get = async <T>(request: APIRequestContext, address: string) =>
  (await (await request.get(address)).json()) as T;

/** The latest run of an experiment that matches the query. */
export async function runOf(request: APIRequestContext, experiment: string, query = 'sort=timestamp') {
  const { runs } = await get<Runs>(request, `/api/runs?experiment=${experiment}&limit=100&${query}`);
  const run = runs.find((run) => query.includes('partial') || run.verdict !== 'partial');
  if (!run) throw new Error(`the store has no run of ${experiment} with ${query}`);
  return run;
}

export async function itemsOf(request: APIRequestContext, run: string, query = '') {
  return (await get<Items>(request, `/api/runs/${run}/items?${query}`)).items;
}
