// Runs are compared in the items table of a run, down to a single item.
import type { APIRequestContext } from '@playwright/test';
import type { Items, Runs } from '../src/api/types';
import { axe, DARK, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { REPLAYED_TAG } from './stores/demo';

/** The latest complete runs of an experiment, latest first. */
async function runsOf(request: APIRequestContext, experiment: string) {
  const { runs } = (await (await request.get(`/api/runs?experiment=${experiment}`)).json()) as Runs;
  return runs.filter((run) => run.verdict !== 'partial').map((run) => run.id);
}

test('the comparison with the previous run is one click away, regressions first', async ({
  page,
  request,
}) => {
  const [id] = await runsOf(request, 'support-agent');
  await page.goto(`/runs/${id}`);
  await page.getByRole('link', { name: 'Compare with previous run' }).click();
  await expect(page).toHaveURL(/\?compare=\w+$/);
  const changes = page.getByRole('list', { name: 'Changes of scores' });
  await expect(changes.getByRole('listitem').filter({ hasText: 'correctness' })).toContainText(
    /(Improved|Regressed|Within noise|Inconclusive).*95% CI .* to .*, p /,
  );
  const table = page.getByRole('table', { name: 'Items' });
  await settled(page);
  await expect(table.getByRole('row').nth(1)).toContainText('−');
  // The items begin in the first screen.
  expect((await table.boundingBox())?.y).toBeLessThan(500);
});

test('the comparison with the baseline names it so', async ({ page, request }) => {
  const [id] = await runsOf(request, 'support-agent');
  await page.goto(`/runs/${id}`);
  await page.getByRole('link', { name: 'Compare with baseline' }).click();
  await expect(page.getByRole('button', { name: /^Baseline: / })).toBeVisible();
});

test('any run is selected in a dialog, by keyboard', async ({ page, request }) => {
  const [id] = await runsOf(request, 'support-agent');
  await page.goto(`/runs/${id}`);
  await page.getByRole('button', { name: 'Compare with another run' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Select the reference' });
  await expect(dialog).toBeVisible();
  await axe(page);
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await page.getByRole('button', { name: 'Compare with another run' }).press('Enter');
  await dialog
    .getByRole('button', { name: /support-agent/ })
    .nth(2)
    .press('Enter');
  await expect(page).toHaveURL(/\?compare=\w+$/);
  await page.getByRole('button', { name: 'Add a run' }).press('Enter');
  await page
    .getByRole('dialog', { name: 'Select run C' })
    .getByRole('button', { name: /support-agent/ })
    .nth(3)
    .press('Enter');
  await expect(page.getByRole('list', { name: 'Compared runs' }).getByRole('listitem')).toHaveCount(3);
  await page.getByRole('button', { name: 'End the comparison' }).press('Enter');
  await expect(page).toHaveURL(`/runs/${id}`);
});

test('the numbers of changed items are those of the filtered table', async ({ page, request }) => {
  const [b, a] = await runsOf(request, 'support-agent');
  await page.goto(`/runs/${b}?compare=${a}&search=refund`);
  await settled(page);
  const regressed = page.getByRole('button', { name: /^Regressed/ });
  const counted = Number((await regressed.textContent())?.replace(/\D/g, ''));
  expect(counted).toBeGreaterThan(0);
  await regressed.click();
  await expect(page).toHaveURL(/only=regressed/);
  const table = page.getByRole('table', { name: 'Items' });
  await expect(table).toHaveAttribute('aria-rowcount', String(counted + 1));
});

test('an item opens beside the table with both outputs and their differences', async ({ page, request }) => {
  const [b, a] = await runsOf(request, 'support-agent');
  await page.goto(`/runs/${b}?compare=${a}&only=regressed`);
  const table = page.getByRole('table', { name: 'Items' });
  await table.getByRole('row').nth(1).getByRole('link').click();
  await expect(page).toHaveURL(/item=/);
  const section = page.getByRole('region', { name: 'Compared with the reference' });
  await expect(section.getByRole('table', { name: 'Evaluations' })).toBeVisible();
  await settled(page);
  await axe(page);
  const first = new URL(page.url()).searchParams.get('item');
  await page.keyboard.press('j');
  await expect.poll(() => new URL(page.url()).searchParams.get('item')).not.toBe(first);
  await page.keyboard.press('k');
  await expect.poll(() => new URL(page.url()).searchParams.get('item')).toBe(first);
  await section.getByRole('link', { name: 'Open in the reference' }).click();
  await expect(page).toHaveURL(new RegExp(`/runs/${a}\\?item=`));
});

test('the items of a partial run are those that both runs have, and others', async ({ page, request }) => {
  const { runs } = (await (await request.get('/api/runs?experiment=support-agent')).json()) as Runs;
  const partial = runs.find((run) => run.verdict === 'partial');
  const whole = runs.find((run) => run.verdict !== 'partial');
  if (!partial || !whole) throw new Error('the store has no partial run');
  const answer = await request.get(`/api/runs/${partial.id}/items?compare=${whole.id}&limit=1`);
  const { counts } = (await answer.json()) as Items;
  expect(counts?.onlyThere).toBeGreaterThan(0);
  await page.goto(`/runs/${partial.id}?compare=${whole.id}`);
  await expect(page.getByText(`${counts?.onlyThere} items not in this run`)).toBeVisible();
  await page.goto(`/runs/${partial.id}?compare=${whole.id}&sort=index&order=desc`);
  const missing = page.getByRole('row').filter({ hasText: 'Not in this run' }).first();
  await missing.getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(`/runs/${whole.id}/items/`));
});

test('former addresses of comparisons lead there', async ({ page, request }) => {
  const [c, b, a] = await runsOf(request, 'support-agent');
  await page.goto(`/compare?a=${a}&b=${b}&c=${c}&only=regressed`);
  await expect(page).toHaveURL(`/runs/${b}?compare=${a},${c}&only=regressed`);
  await page.goto(`/compare?a=${a}`);
  await expect(page).toHaveURL(`/runs/${a}`);
  await page.goto('/compare');
  await expect(page).toHaveURL('/');
});

test('an unknown run is reported', async ({ page, request, faults }) => {
  faults.expect(/404/);
  const [id] = await runsOf(request, 'support-agent');
  await page.goto(`/runs/${id}?compare=nowhere`);
  const head = page.getByRole('region', { name: 'Comparison' });
  await expect(head.getByRole('alert')).toContainText('Run not found');
  await head.getByRole('button', { name: 'End the comparison' }).click();
  await expect(page).toHaveURL(`/runs/${id}`);
});

test('a replayed run is marked', async ({ page, request }) => {
  const tagged = await request.get(`/api/runs?experiment=support-agent&tag=${REPLAYED_TAG}`);
  const replayed = ((await tagged.json()) as Runs).runs[0];
  if (!replayed) throw new Error('the store has no replayed run');
  const { id, totalItems, replayedItems } = replayed;
  const other = (await runsOf(request, 'support-agent')).find((run) => run !== id);
  await page.goto(`/runs/${id}?compare=${other}`);
  await expect(
    page
      .getByRole('list', { name: 'Compared runs' })
      .getByText(`${replayedItems} of ${totalItems} as recorded`),
  ).toBeVisible();
});

for (const [name, options] of Object.entries({ light: {}, dark: DARK, narrow: NARROW })) {
  test.describe(`several runs, ${name}`, () => {
    test.use(options);
    test('have no violation, and are as wide as the window', async ({ page, request }) => {
      const [d, c, b, a] = await runsOf(request, 'support-agent');
      await page.goto(`/runs/${d}?compare=${a},${b},${c}`);
      await settled(page);
      await noSidewaysScroll(page);
      await axe(page);
      await page.getByRole('button', { name: 'Intervals and metrics' }).click();
      await expect(page.getByRole('table', { name: 'Scores vs. reference' })).toBeVisible();
      await noSidewaysScroll(page);
      await axe(page);
    });
  });
}
