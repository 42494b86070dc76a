// The page of a run: metrics, virtualized items table, and the drawer of an item with its own URL.
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import type { Items, Overview } from '../src/api/types';
import { rangeFilter } from '../src/pages/run/items/filter';
import { get, itemsOf, runOf } from './api';
import { axe, DARK, expect, settled, test } from './fixtures';
import { itemAddress, pane } from './pages';
import { REPLAYED_TAG } from './stores/demo';

const table = (page: Page) => page.getByRole('table', { name: 'Items', exact: true });
const rows = (page: Page) => table(page).locator('tr[data-place]');

test('thresholds and scores show their values', async ({ page, request }) => {
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
  await expect(tone).toContainText('Pass mark 0.6');
});

for (const experiment of ['support-agent', 'invoice-extraction']) {
  test(`the filter of each histogram bar of ${experiment} matches the number of its items`, async ({
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

test('a histogram bar shows its items, and the filter can be cleared', async ({ page, request }) => {
  const { id, totalItems } = await runOf(request, 'invoice-extraction');
  await page.goto(`/runs/${id}`);
  const bar = page.getByRole('list', { name: 'Distribution of fields' }).getByRole('button').first();
  const items = Number.parseInt((await bar.getAttribute('aria-label')) ?? '', 10);
  await bar.click();
  await expect(page).toHaveURL(/evaluator=fields&minScore=/);
  await expect(rows(page)).toHaveCount(items);
  await expect(page.getByRole('status').filter({ hasText: `of ${totalItems} items` })).toBeVisible();
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(table(page)).toHaveAttribute('aria-rowcount', String(totalItems + 1));
});

test('search, state filter and sort order of the items survive a reload', async ({ page, request }) => {
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
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(table(page)).toHaveAttribute('aria-rowcount', '97');
});

test('an invalid filter is reported and can be cleared', async ({ page, request, faults }) => {
  faults.expect(/400/);
  const { id } = await runOf(request, 'support-agent');
  await page.goto(`/runs/${id}?evaluator=__proto__`);
  await expect(page.getByRole('alert')).toContainText('no evaluator `__proto__`');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(rows(page).first()).toBeVisible();
});

test('the table renders only visible rows, and End moves to the last one', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  const last = (await itemsOf(request, id)).at(-1);
  await page.goto(`/runs/${id}`);
  await rows(page).first().getByRole('link').focus();
  await page.keyboard.press('End');
  await expect(rows(page).last()).toHaveAttribute('data-place', '95');
  await expect(rows(page).last().getByRole('link')).toBeFocused();
  expect(await rows(page).count()).toBeLessThan(60);
  await page.keyboard.press('Enter');
  await expect(pane(page).getByRole('heading', { level: 2 })).toHaveText(last?.name ?? '?');
  await expect(pane(page).getByRole('button', { name: 'Next item' })).toBeDisabled();
});

test('a click on a row opens the item, keys move to others, and Escape returns to the row', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, 'support-agent');
  const items = await itemsOf(request, id, 'sort=latency');
  await page.goto(`/runs/${id}?sort=latency`);
  // The link covers the row.
  await rows(page).nth(1).getByRole('cell').nth(4).click({ force: true });
  await expect(pane(page).getByText('2 of 96')).toBeVisible();
  await page.keyboard.press('j');
  await expect(pane(page).getByRole('heading', { level: 2 })).toHaveText(items[2]?.name ?? '?');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('k');
  await expect(pane(page).getByText('1 of 96')).toBeVisible();
  await pane(page).getByRole('button', { name: 'Next item' }).click();
  await expect(pane(page).getByText('2 of 96')).toBeVisible();
  await axe(page);
  await page.keyboard.press('Escape');
  await expect(pane(page)).toBeHidden();
  await expect(rows(page).nth(1).getByRole('link')).toBeFocused();
  await expect(page).toHaveURL(`/runs/${id}?sort=latency`);
});

test('a replayed run shows its traffic, and where its items diverged', async ({ page, request }) => {
  const { id, totalItems, replayedItems } = await runOf(request, 'support-agent', `tag=${REPLAYED_TAG}`);
  const diverged = await itemsOf(request, id, 'state=diverged');
  const item = diverged.find(({ traffic }) => traffic?.replayed);
  await page.goto(`/runs/${id}`);
  const traffic = page.getByRole('region', { name: 'Model traffic' });
  await expect(traffic).toContainText(
    `${totalItems} items: ${replayedItems} replayed (recorded 2026-10-18), ${totalItems - replayedItems} live`,
  );
  // In the tiles of latency and cost, and above the percentiles.
  await expect(page.getByText(`${replayedItems} of ${totalItems} as recorded`)).toHaveCount(3);
  await expect(rows(page).first()).toContainText('as recorded');
  await axe(page);
  await traffic.getByRole('button', { name: 'diverged from the recording' }).click();
  await expect(page).toHaveURL(/state=diverged/);
  await expect(rows(page)).toHaveCount(diverged.length);
  await rows(page)
    .getByRole('link', { name: item?.name ?? '?', exact: true })
    .click();
  const ofItem = pane(page).getByRole('region', { name: 'Model traffic' });
  await expect(ofItem).toContainText(`Requests replayed${item?.traffic?.replayed}Requests live1`);
  await expect(ofItem).toContainText('Diverged from the recording`messages[1].content`');
  await expect(pane(page).getByText('as recorded in part').first()).toBeVisible();
  await axe(page);
});

test.describe('in dark', () => {
  test.use(DARK);

  test('a replayed run has no violation', async ({ page, request }) => {
    const { id } = await runOf(request, 'support-agent', `tag=${REPLAYED_TAG}`);
    await page.goto(`/runs/${id}`);
    await settled(page);
    await expect(page.getByRole('region', { name: 'Model traffic' })).toBeVisible();
    await axe(page);
  });
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

test('an unknown item is reported, and its run stays usable', async ({ page, request, faults }) => {
  faults.expect(/404/);
  const { id } = await runOf(request, 'support-agent');
  await page.goto(itemAddress(id, 'a/b/../%2e?no=1'));
  await expect(pane(page).getByRole('alert')).toContainText('Item not found');
  await page.keyboard.press('Escape');
  await expect(rows(page).first()).toBeVisible();
});

test('an unknown run links to all runs', async ({ page, faults }) => {
  faults.expect(/404/);
  await page.goto('/runs/nothing');
  await expect(page.getByText('Run not found')).toBeVisible();
  await page.getByRole('link', { name: 'Show all runs' }).click();
  await expect(page).toHaveURL('/');
});

test('a partial run shows that its thresholds were not evaluated', async ({ page, request }) => {
  const { id } = await runOf(request, 'handbook-questions', 'verdict=partial');
  await page.goto(`/runs/${id}`);
  await settled(page);
  await expect(page.getByRole('main').getByText('Partial').first()).toBeVisible();
  const thresholds = page.getByRole('region', { name: 'Thresholds' });
  await expect(thresholds).toContainText('not evaluated for a partial run');
  await expect(thresholds).toContainText('latency.p95 ≤ 3s');
  await axe(page);
});
