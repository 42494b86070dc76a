// The pages of the dashboard, with URLs that are valid in any store with runs.
import type { APIRequestContext, Page } from '@playwright/test';
import type { Items, Runs } from '../src/api/types';

type Address = (request: APIRequestContext) => Promise<string>;

/** The pages by name. */
export const PAGES = {
  experiments: async () => '/',
  runs: async () => '/?view=runs',
  experiment: async (request) => `/experiments/${encodeURIComponent((await newest(request))[0].name)}`,
  run: async (request) => `/runs/${(await newest(request))[0].id}`,
  details: async (request) => `/runs/${(await newest(request))[0].id}?details=open`,
  grouped: async (request) =>
    `/runs/${(await newest(request))[0].id}?group=status&columns=key,status,expected,output&rows=tall`,
  item: async (request) => {
    const [{ id }] = await newest(request);
    return itemAddress(id, await keyOf(request, id));
  },
  'item page': async (request) => {
    const [{ id }] = await newest(request);
    return itemPage(id, await keyOf(request, id));
  },
  compare: async (request) => {
    const [other, base] = await newest(request);
    return `/runs/${other.id}?compare=${base.id}`;
  },
  trends: async (request) => `/experiments/${encodeURIComponent((await newest(request))[0].name)}?tab=trends`,
} satisfies Record<string, Address>;

/** The URL of an item within its run. */
export function itemAddress(run: string, key: string): string {
  return `/runs/${run}?item=${encodeURIComponent(key)}`;
}

/** The URL of the page of an item. */
export const itemPage = (run: string, key: string) => `/runs/${run}/items/${encodeURIComponent(key)}`;

/** The item, beside the table of its run or on its own page. */
export const pane = (page: Page) =>
  page
    .getByRole('region')
    .filter({ has: page.getByRole('button', { name: 'Copy a link to this item' }) })
    .last();

/** The two latest complete runs of the experiment with the most items. */
async function newest(request: APIRequestContext) {
  const { runs } = (await (await request.get('/api/runs?limit=100')).json()) as Runs;
  const largest = Math.max(...runs.map((run) => run.totalItems));
  const [first, ...others] = runs.filter((run) => run.totalItems === largest && run.verdict !== 'partial');
  const second = others.find((run) => run.name === first?.name);
  if (!first || !second) throw new Error('the store has no two runs of one experiment');
  return [first, second] as const;
}

async function keyOf(request: APIRequestContext, run: string): Promise<string> {
  const { items } = (await (await request.get(`/api/runs/${run}/items?limit=1`)).json()) as Items;
  if (!items[0]) throw new Error(`the run ${run} has no item`);
  return items[0].key;
}
