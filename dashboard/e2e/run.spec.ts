// One run: its figures, its items in a table of any length, and each item in a drawer that can be linked to.
import { readFile } from 'node:fs/promises';
import type { APIRequestContext, Page } from '@playwright/test';
import type { Items, Overview, Runs } from '../src/api/types';
import { rangeFilter } from '../src/pages/run/items/filter';
import { axe, expect, settled, test } from './fixtures';
import { itemAddress } from './pages';

const get = async <T>(request: APIRequestContext, address: string) =>
  (await (await request.get(address)).json()) as T;

/** The newest run of an experiment that is like this. */
async function runOf(request: APIRequestContext, experiment: string, like = 'sort=timestamp') {
  const { runs } = await get<Runs>(request, `/api/runs?experiment=${experiment}&limit=100&${like}`);
  const run = runs.find((run) => like.includes('partial') || run.verdict !== 'partial');
  if (!run) throw new Error(`the store has no run of ${experiment} with ${like}`);
  return run;
}

async function itemsOf(request: APIRequestContext, run: string, query = '') {
  return (await get<Items>(request, `/api/runs/${run}/items?${query}`)).items;
}

const table = (page: Page) => page.getByRole('table', { name: 'Items', exact: true });
const rows = (page: Page) => table(page).locator('tr[data-place]');
const drawer = (page: Page) => page.getByRole('dialog');

test('thresholds and scores have their figures', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  const { run } = await get<Overview>(request, `/api/runs/${id}/overview`);
  await page.goto(`/runs/${id}`);
  const thresholds = page.getByRole('table', { name: 'Thresholds' });
  const latency = run.ciStatus?.thresholds?.find(({ name }) => name.startsWith('latency.p95'));
  const row = thresholds.getByRole('row', { name: /latency\.p95 ≤ 4s/ });
  await expect(row).toContainText(`${((latency?.actual ?? 0) / 1000).toFixed(2)} s`);
  const scores = page.getByRole('table', { name: 'Scores by evaluator' });
  const tone = scores.getByRole('row', { name: /tone/ });
  await expect(tone).toContainText(run.summary.scores.tone?.avg.toFixed(3) ?? '?');
  await expect(tone).toContainText('mark 0.6');
});

for (const experiment of ['support-agent', 'invoice-extraction']) {
  test(`each bar of a histogram of ${experiment} has as many items as its filter finds`, async ({
    request,
  }) => {
    const { id } = await runOf(request, experiment);
    const { histograms, run } = await get<Overview>(request, `/api/runs/${id}/overview`);
    expect(Object.keys(histograms)).toEqual([...run.config.evaluators].sort());
    for (const [evaluator, parts] of Object.entries(histograms)) {
      for (const [part, items] of parts.entries()) {
        const range = { low: part / parts.length, high: (part + 1) / parts.length };
        const bounds = Object.entries(rangeFilter(evaluator, range)).filter(
          ([, value]) => value !== undefined,
        );
        const query = new URLSearchParams(bounds as [string, string][]);
        const { matching } = await get<Items>(request, `/api/runs/${id}/items?${query}`);
        expect(matching, `${evaluator} from ${range.low} to ${range.high}`).toBe(items);
      }
    }
  });
}

test('a bar of a histogram leads to its items, and the filter can be cleared', async ({ page, request }) => {
  const { id, totalItems } = await runOf(request, 'invoice-extraction');
  await page.goto(`/runs/${id}`);
  const bar = page.getByRole('list', { name: 'Spread of fields' }).getByRole('button').first();
  const items = Number.parseInt((await bar.getAttribute('aria-label')) ?? '', 10);
  await bar.click();
  await expect(page).toHaveURL(/evaluator=fields&minScore=/);
  await expect(rows(page)).toHaveCount(items);
  await expect(page.getByRole('status').filter({ hasText: `of ${totalItems} items` })).toBeVisible();
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(table(page)).toHaveAttribute('aria-rowcount', String(totalItems + 1));
});

test('items are searched, filtered by state, and sorted; all of it survives a reload', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, 'support-agent', 'verdict=failed');
  const slowest = (await itemsOf(request, id, 'search=return-window&sort=latency&order=desc'))[0];
  await page.goto(`/runs/${id}`);
  await page.getByRole('searchbox', { name: 'Search items' }).fill('return-window');
  await expect(page).toHaveURL(/search=return-window/);
  const latency = table(page).getByRole('columnheader', { name: 'Latency' });
  await latency.getByRole('button').click();
  await expect(latency).toHaveAttribute('aria-sort', 'ascending');
  await latency.getByRole('button').click();
  await expect(rows(page).first()).toContainText(slowest?.name ?? '?');
  await page.reload();
  await expect(rows(page).first()).toContainText(slowest?.name ?? '?');
  await expect(latency).toHaveAttribute('aria-sort', 'descending');
  await page
    .getByRole('group', { name: 'State' })
    .getByRole('button', { name: /^Passed/ })
    .click();
  await expect(page).toHaveURL(/state=passed/);
  await page.getByRole('searchbox', { name: 'Search items' }).fill('there is no such item');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect(table(page)).toHaveAttribute('aria-rowcount', '97');
});

test('a filter that the run cannot have is told, and can be cleared', async ({ page, request, faults }) => {
  faults.expect(/400/);
  const { id } = await runOf(request, 'support-agent');
  await page.goto(`/runs/${id}?evaluator=__proto__`);
  await expect(page.getByRole('alert')).toContainText('no evaluator `__proto__`');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(rows(page).first()).toBeVisible();
});

test('the table draws what is in sight alone, and goes to its end by keyboard', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  const last = (await itemsOf(request, id)).at(-1);
  await page.goto(`/runs/${id}`);
  await rows(page).first().getByRole('link').focus();
  await page.keyboard.press('End');
  await expect(rows(page).last()).toHaveAttribute('data-place', '95');
  await expect(rows(page).last().getByRole('link')).toBeFocused();
  expect(await rows(page).count()).toBeLessThan(60);
  await page.keyboard.press('Enter');
  await expect(drawer(page).getByRole('heading', { level: 2 })).toHaveText(last?.name ?? '?');
  await expect(drawer(page).getByRole('button', { name: 'Next item' })).toBeDisabled();
});

test('an item opens by a click on its row, the keys go on, and Escape leads back', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, 'support-agent');
  const items = await itemsOf(request, id, 'sort=latency');
  await page.goto(`/runs/${id}?sort=latency`);
  // Its link covers all of the row.
  await rows(page).nth(1).getByRole('cell').nth(4).click({ force: true });
  await expect(drawer(page).getByText('2 of 96')).toBeVisible();
  await page.keyboard.press('j');
  await expect(drawer(page).getByRole('heading', { level: 2 })).toHaveText(items[2]?.name ?? '?');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('k');
  await expect(drawer(page).getByText('1 of 96')).toBeVisible();
  await drawer(page).getByRole('button', { name: 'Next item' }).click();
  await expect(drawer(page).getByText('2 of 96')).toBeVisible();
  await axe(page);
  await page.keyboard.press('Escape');
  await expect(drawer(page)).toBeHidden();
  await expect(rows(page).nth(1).getByRole('link')).toBeFocused();
  await expect(page).toHaveURL(`/runs/${id}?sort=latency`);
});

test('a link to an item opens it, with what was expected against the output', async ({ page, request }) => {
  const { id } = await runOf(request, 'handbook-questions');
  const [item] = await itemsOf(request, id, 'sort=score:correctness');
  await page.goto(itemAddress(id, item?.key ?? ''));
  const output = drawer(page).getByRole('region', { name: 'Output' });
  await expect(output.locator('del').nth(1)).toBeVisible();
  await expect(output.locator('ins').nth(1)).toBeVisible();
  await output.getByRole('button', { name: 'Side by side' }).click();
  await expect(output.getByText('Expected', { exact: true })).toBeVisible();
  await output.getByRole('button', { name: 'Raw' }).click();
  await expect(output.locator('del')).toHaveCount(0);
  await axe(page);
  await page.reload();
  await expect(drawer(page).getByRole('heading', { level: 2 })).toHaveText(item?.name ?? '?');
  // What is asked stands before what lies around it.
  const input = drawer(page).getByRole('region', { name: 'Input' });
  await expect(input.getByRole('term').first()).toHaveText('question');
});

test('each run of a repeated item can be looked at, and linked to', async ({ page, request }) => {
  const { id } = await runOf(request, 'invoice-extraction');
  const [item] = await itemsOf(request, id, 'sort=score:fields');
  await page.goto(itemAddress(id, item?.key ?? ''));
  const spread = drawer(page).getByRole('table', { name: 'Spread over the runs' });
  await expect(spread.getByRole('row', { name: /^fields/ })).toContainText(
    item?.scores.fields?.toFixed(3) ?? '?',
  );
  await drawer(page).getByRole('button', { name: 'Run 3' }).click();
  await expect(page).toHaveURL(/execution=3/);
  await page.reload();
  await expect(drawer(page).getByRole('heading', { name: 'Output of run 3' })).toBeVisible();
});

test('calls of tools are listed with what they were given and gave', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  const [item] = await itemsOf(request, id, 'search=return-window-1&state=passed');
  await page.goto(itemAddress(id, item?.key ?? ''));
  const calls = drawer(page).getByRole('region', { name: 'Tool calls' }).getByRole('listitem');
  await expect(calls.first()).toContainText(/lookup_order.*Arguments.*order.*Result/s);
});

test('an item in error says why', async ({ page, request }) => {
  const { id } = await runOf(request, 'incident-summaries', 'verdict=error');
  const [item] = await itemsOf(request, id, 'state=error');
  await page.goto(itemAddress(id, item?.key ?? ''));
  await expect(drawer(page).getByText('The agent failed')).toBeVisible();
  await expect(drawer(page).getByText(item?.error ?? '?')).toBeVisible();
});

const FORMATS: [name: string, beginning: RegExp][] = [
  ['CSV', /^\ufeff?[\w",. ]+\r?\n/],
  ['HTML', /^<!doctype html>/i],
  ['JSON', /^\s*\{/],
  ['JUnit', /^<\?xml/],
  ['Markdown', /^#/],
];

for (const [name, beginning] of FORMATS) {
  test(`the run is exported as ${name}`, async ({ page, request }) => {
    const { id } = await runOf(request, 'support-agent');
    await page.goto(`/runs/${id}`);
    await page.getByRole('button', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: new RegExp(`^${name}`) }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toContain(id);
    expect(await readFile(await download.path(), 'utf8')).toMatch(beginning);
  });
}

test('the output, the link and the whole item can be copied', async ({ page, context, request }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { id } = await runOf(request, 'support-agent');
  const [item] = await itemsOf(request, id, 'state=passed');
  await page.goto(itemAddress(id, item?.key ?? ''));
  const copied = async (name: string) => {
    await drawer(page).getByRole('button', { name, exact: true }).click();
    await expect(drawer(page).getByText('Copied').last()).toBeAttached();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(await copied('Copy a link to this item')).toBe(page.url());
  expect(JSON.parse(await copied('Copy the item as JSON'))).toMatchObject({ key: item?.key });
  expect(await copied('Copy the output')).toContain(item?.output?.slice(0, 40) ?? '?');
});

test('an item that is not there says so beside its run', async ({ page, request, faults }) => {
  faults.expect(/404/);
  const { id } = await runOf(request, 'support-agent');
  await page.goto(itemAddress(id, 'a/b/../%2e?no=1'));
  await expect(drawer(page).getByRole('alert')).toContainText('This item is not there');
  await page.keyboard.press('Escape');
  await expect(rows(page).first()).toBeVisible();
});

test('a run that is not there leads to those that are', async ({ page, faults }) => {
  faults.expect(/404/);
  await page.goto('/runs/nothing');
  await expect(page.getByText('This run is not there')).toBeVisible();
  await page.getByRole('link', { name: 'See all runs' }).click();
  await expect(page).toHaveURL('/');
});

test('a partial run says that its thresholds were not evaluated', async ({ page, request }) => {
  const { id } = await runOf(request, 'handbook-questions', 'verdict=partial');
  await page.goto(`/runs/${id}`);
  await settled(page);
  await expect(page.getByRole('main').getByText('Partial').first()).toBeVisible();
  const thresholds = page.getByRole('region', { name: 'Thresholds' });
  await expect(thresholds).toContainText('a run of some of them is not evaluated');
  await expect(thresholds).toContainText('latency.p95 ≤ 3s');
  await axe(page);
});
