// The page of a run: verdict, key figures, details and the virtualized items table.
import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import type { Items, Overview, Runs } from '../src/api/types';
import { rangeConditions } from '../src/pages/run/items/filter';
import { get, itemsOf, runOf } from './api';
import { axe, DARK, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { itemAddress, pane } from './pages';
import { REPLAYED_TAG } from './stores/demo';

const table = (page: Page) => page.getByRole('table', { name: 'Items', exact: true });
const rows = (page: Page) => table(page).locator('tr[data-item]');

test('thresholds and scores show their values', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  const { run } = await get<Overview>(request, `/api/runs/${id}/overview`);
  await page.goto(`/runs/${id}`);
  await page.getByRole('button', { name: 'Details' }).click();
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
        const conditions = rangeConditions(evaluator, range).map((condition) => ['where', condition]);
        const query = new URLSearchParams(conditions);
        const { matching } = await get<Items>(request, `/api/runs/${id}/items?${query}`);
        expect(matching, `${evaluator} from ${range.low} to ${range.high}`).toBe(items);
      }
    }
  });
}

test('a bar in the head of a column shows its items, and the filter can be removed', async ({
  page,
  request,
}) => {
  const { id, totalItems } = await runOf(request, 'invoice-extraction');
  await page.goto(`/runs/${id}`);
  const bar = page.getByRole('group', { name: 'Distribution of fields' }).getByRole('button').first();
  const items = Number.parseInt((await bar.getAttribute('aria-label')) ?? '', 10);
  await bar.click();
  await expect(page).toHaveURL(/where=score\.fields/);
  await expect(rows(page)).toHaveCount(items);
  await expect(page.getByRole('status').filter({ hasText: `of ${totalItems} items` })).toBeAttached();
  await bar.click();
  await expect(table(page)).toHaveAttribute('aria-rowcount', String(totalItems + 1));
});

test('why a run failed is in view after one click, without a scroll', async ({ page, request }) => {
  const { id } = await runOf(request, 'handbook-questions', 'verdict=failed');
  const { run } = await get<Overview>(request, `/api/runs/${id}/overview`);
  const missed = run.ciStatus?.thresholds?.filter(({ finding }) => finding === 'missed') ?? [];
  expect(missed.length).toBeGreaterThan(0);
  await page.goto('/?view=runs&experiment=handbook-questions&verdict=failed');
  await page.locator(`a[href="/runs/${id}"]`).first().click();
  const list = page.getByRole('list', { name: 'Missed thresholds' });
  for (const { name } of missed) await expect(list).toContainText(name.split(/[<>]/)[0]?.trim() ?? '?');
  await expect(list.getByRole('listitem').last()).toBeInViewport();
  await expect(page.getByText(new RegExp(`${missed.length} of \\d+ thresholds missed`))).toBeInViewport();
  expect(await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight)).toBe(true);
});

test('the worst items come first after one click on the head of a score', async ({ page, request }) => {
  const { id } = await runOf(request, 'handbook-questions', 'verdict=failed');
  const worst = (await itemsOf(request, id, 'sort=score:correctness')).slice(0, 5);
  await page.goto(`/runs/${id}`);
  await table(page)
    .getByRole('columnheader', { name: 'correctness' })
    .getByRole('button', { name: 'correctness', exact: true })
    .click();
  for (const [place, item] of worst.entries()) {
    await expect(rows(page).nth(place)).toContainText(item.name);
    await expect(rows(page).nth(place)).toBeInViewport();
  }
});

test('columns are moved by drag and resized by mouse, and both are in the address', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, 'support-agent');
  await page.goto(`/runs/${id}`);
  const head = (name: string) => table(page).getByRole('columnheader', { name, exact: true });
  await head('Latency').getByText('Latency').dragTo(head('Status'));
  await expect(page).toHaveURL(/columns=key%2Clatency%2Cstatus/);
  // The address changes before the table.
  await expect(table(page).getByRole('columnheader').nth(1)).toHaveAccessibleName('Latency');
  const before = (await head('Latency').boundingBox())?.width ?? 0;
  const edge = await head('Latency').boundingBox();
  if (edge === null) throw new Error('the column has no box');
  await page.mouse.move(edge.x + edge.width - 3, edge.y + 20);
  await page.mouse.down();
  await page.mouse.move(edge.x + edge.width + 77, edge.y + 20, { steps: 4 });
  await page.mouse.up();
  await expect(page).toHaveURL(/widths=latency/);
  const after = (await head('Latency').boundingBox())?.width ?? 0;
  expect(Math.abs(after - before - 80)).toBeLessThan(6);
  await page.reload();
  await expect(head('Latency')).toBeVisible();
  const reloaded = (await head('Latency').boundingBox())?.width ?? 0;
  expect(Math.abs(reloaded - after)).toBeLessThan(2);
});

test('items are grouped by a field, filtered by a column, and shown with the expected value', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, 'support-agent');
  const { groups } = await get<Items>(request, `/api/runs/${id}/items?group=status`);
  await page.goto(`/runs/${id}`);
  await page.getByRole('combobox', { name: 'Group items' }).click();
  await page.getByRole('option', { name: 'By Status' }).click();
  const heading = table(page).getByRole('rowheader').first().getByRole('button');
  await expect(heading).toContainText(`${groups?.[0]?.items} items`);
  await heading.click();
  await expect(heading).toHaveAttribute('aria-expanded', 'false');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Expected' }).check();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('combobox', { name: 'Column' }).click();
  await page.getByRole('option', { name: 'Latency' }).click();
  await page
    .getByRole('textbox', { name: 'Value' })
    .or(page.getByRole('spinbutton', { name: 'Value' }))
    .fill('1500');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page).toHaveURL(/where=latency%3E%3D1500/);
  await axe(page);
  await page.reload();
  await expect(table(page).getByRole('columnheader', { name: 'Expected' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Remove filter: Latency at least 1500' })).toBeVisible();
});

test('a named view is applied to another run of the experiment', async ({ page, request }) => {
  const { runs } = await get<Runs>(request, '/api/runs?experiment=support-agent&limit=2');
  const [first, second] = runs;
  await page.goto(`/runs/${first?.id}?sort=latency&order=desc&rows=compact`);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('textbox', { name: 'Name of the view' }).fill('slowest');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'slowest', exact: true })).toBeVisible();
  await page.goto(`/runs/${second?.id}`);
  await page.getByRole('button', { name: 'Views' }).click();
  await axe(page);
  await page.getByRole('button', { name: 'slowest', exact: true }).click();
  await expect(page).toHaveURL(`/runs/${second?.id}?order=desc&rows=compact&sort=latency`);
});

test('the strip is at most 120 px high, and the table fills the window', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  for (const width of [1440, 1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(`/runs/${id}`);
    await expect(rows(page).first()).toBeVisible();
    const strip = await page.getByRole('region', { name: 'Key figures' }).boundingBox();
    expect(strip?.height).toBeLessThanOrEqual(120);
    const box = await table(page).locator('..').boundingBox();
    expect(Math.round((box?.y ?? 0) + (box?.height ?? 0))).toBe(844);
    expect(box?.height).toBeGreaterThan(width === 390 ? 250 : 480);
    await noSidewaysScroll(page);
  }
});

test('with the details open, nothing is wider than a window of 1280 px', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent', 'verdict=failed');
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/runs/${id}?details=open`);
  const details = page.getByRole('region', { name: 'Details' });
  await expect(details.getByRole('table', { name: 'Scores by evaluator' })).toBeVisible();
  await noSidewaysScroll(page);
  expect(await details.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
});

test('names of evaluators are not broken within a word', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  await page.setViewportSize(NARROW.viewport);
  await page.goto(`/runs/${id}?details=open`);
  await settled(page);
  const names = await page.getByText('correctness', { exact: true }).all();
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const lines = await name.evaluate((element) => element.getClientRects().length);
    expect(lines).toBeLessThanOrEqual(1);
  }
});

test('search, state filter and sort order of the items survive a reload', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent', 'verdict=failed');
  const slowest = (await itemsOf(request, id, 'search=return-window&sort=latency&order=desc'))[0];
  await page.goto(`/runs/${id}`);
  await page.getByRole('searchbox', { name: 'Search items' }).fill('return-window');
  await expect(page).toHaveURL(/search=return-window/);
  const latency = table(page).getByRole('columnheader', { name: 'Latency' });
  await latency.getByRole('button', { name: 'Latency', exact: true }).click();
  await expect(latency).toHaveAttribute('aria-sort', 'ascending');
  await latency.getByRole('button', { name: 'Latency', exact: true }).click();
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

test('an invalid filter is reported and can be removed', async ({ page, request, faults }) => {
  faults.expect(/400/);
  const { id } = await runOf(request, 'support-agent');
  await page.goto(`/runs/${id}?where=nothing=1`);
  await expect(page.getByRole('alert')).toContainText('nothing');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(rows(page).first()).toBeVisible();
});

test('the table renders only visible rows, and End moves to the last one', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  const last = (await itemsOf(request, id)).at(-1);
  await page.goto(`/runs/${id}`);
  await rows(page).first().getByRole('link').focus();
  await page.keyboard.press('End');
  await expect(rows(page).last()).toHaveAttribute('data-line', '95');
  await expect(rows(page).last().getByRole('link')).toBeFocused();
  expect(await rows(page).count()).toBeLessThan(60);
  await page.keyboard.press('Enter');
  await expect(pane(page).getByRole('heading', { level: 2 })).toHaveAccessibleName(last?.name ?? '?');
  await expect(pane(page).getByRole('button', { name: 'Next item' })).toBeDisabled();
});

test('a click on a row opens the item, keys move to others, and Escape returns to the row', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, 'support-agent');
  const items = await itemsOf(request, id, 'sort=latency');
  await page.goto(`/runs/${id}?sort=latency`);
  await rows(page).nth(1).getByRole('cell').nth(4).click();
  await expect(pane(page).getByText('2 of 96')).toBeVisible();
  await page.keyboard.press('j');
  await expect(pane(page).getByRole('heading', { level: 2 })).toHaveAccessibleName(items[2]?.name ?? '?');
  await page.keyboard.press('k');
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
  await page.goto(`/runs/${id}?details=open`);
  const traffic = page.getByRole('region', { name: 'Model traffic' });
  await expect(traffic).toContainText(
    `${totalItems} items: ${replayedItems} replayed (recorded 2026-10-18), ${totalItems - replayedItems} live`,
  );
  // In the strip at latency and agent cost, and above the percentiles.
  await expect(page.getByText(`${replayedItems} of ${totalItems} as recorded`)).toHaveCount(3);
  await expect(rows(page).first()).toContainText('as recorded');
  await axe(page);
  await traffic.getByRole('button', { name: 'diverged from the recording' }).click();
  await expect(page).toHaveURL(/state=diverged/);
  await page.getByRole('button', { name: 'Details' }).click();
  await expect(rows(page)).toHaveCount(diverged.length);
  await rows(page)
    .getByRole('link', { name: item?.name ?? '?', exact: true })
    .click();
  await expect(pane(page).getByText('as recorded in part').first()).toBeVisible();
  await pane(page).getByRole('tab', { name: 'Trace' }).click();
  const ofItem = pane(page).getByRole('region', { name: 'Model traffic' });
  await expect(ofItem).toContainText(`Requests replayed${item?.traffic?.replayed}Requests live1`);
  await expect(ofItem).toContainText('Diverged from the recording');
  await axe(page);
});

test.describe('in dark', () => {
  test.use(DARK);

  test('a replayed run has no violation', async ({ page, request }) => {
    const { id } = await runOf(request, 'support-agent', `tag=${REPLAYED_TAG}`);
    await page.goto(`/runs/${id}?details=open`);
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
    await page.getByRole('menuitem', { name: new RegExp(`^${name}`) }).click();
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

test('an unknown run has a heading, and links to the experiments', async ({ page, faults }) => {
  faults.expect(/404/);
  await page.goto('/runs/nothing');
  await expect(page.getByRole('heading', { level: 1, name: 'Run not found' })).toBeVisible();
  await page.getByRole('link', { name: 'Show the experiments' }).click();
  await expect(page).toHaveURL('/');
});

test('a partial run shows that its thresholds were not evaluated', async ({ page, request }) => {
  const { id } = await runOf(request, 'handbook-questions', 'verdict=partial');
  await page.goto(`/runs/${id}?details=open`);
  await settled(page);
  await expect(page.getByRole('main').getByText('Partial:').first()).toBeVisible();
  const thresholds = page.getByRole('region', { name: 'Thresholds' });
  await expect(thresholds).toContainText('not evaluated for a partial run');
  await expect(thresholds).toContainText('latency.p95 ≤ 3s');
  await axe(page);
});
