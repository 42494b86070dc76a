// Runs are selected and compared, down to a single item.
import type { APIRequestContext } from '@playwright/test';
import type { ComparedRuns, Runs } from '../src/api/types';
import { axe, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { REPLAYED_TAG } from './stores/demo';

/** The latest runs of an experiment, latest first. */
async function runsOf(request: APIRequestContext, experiment: string) {
  const { runs } = (await (await request.get(`/api/runs?experiment=${experiment}`)).json()) as Runs;
  return runs.filter((run) => run.verdict !== 'partial').map((run) => run.id);
}

test('the latest two runs of an experiment are one click away', async ({ page }) => {
  await page.goto('/compare');
  await page.getByRole('link', { name: 'Compare the latest two runs of support-agent' }).click();
  await expect(page).toHaveURL(/\?a=\w+&b=\w+/);
  const scores = page.getByRole('table', { name: 'Scores vs. run A' });
  await expect(scores.getByRole('row', { name: /correctness/ })).toContainText(
    /Improved|Regressed|Within noise|Inconclusive/,
  );
});

test('runs are selected in a dialog, by keyboard', async ({ page }) => {
  await page.goto('/compare');
  await page.getByRole('button', { name: 'Run A' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Select run A' });
  await expect(dialog).toBeVisible();
  await axe(page);
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await page.getByRole('button', { name: 'Run A' }).press('Enter');
  await dialog
    .getByRole('button', { name: /support-agent/ })
    .first()
    .press('Enter');
  await page.getByRole('button', { name: 'Run B' }).press('Enter');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /support-agent/ })
    .nth(1)
    .press('Enter');
  await page.getByRole('button', { name: 'Compare', exact: true }).press('Enter');
  await expect(page.getByRole('list', { name: 'Compared runs' }).getByRole('listitem').first()).toContainText(
    'support-agent',
  );
});

test('an item opens with both outputs and links to its runs', async ({ page, request }) => {
  const [b, a] = await runsOf(request, 'support-agent');
  await page.goto(`/compare?a=${a}&b=${b}`);
  await page.getByRole('button', { name: /^Regressed/ }).click();
  await expect(page).toHaveURL(/only=regressed/);
  const item = page.getByRole('table', { name: /Items/ }).getByRole('button', { expanded: false }).first();
  await item.click();
  await expect(page).toHaveURL(/item=/);
  await expect(page.getByRole('table', { name: 'Evaluations' })).toBeVisible();
  await axe(page);
  await page.reload();
  await expect(page.getByRole('table', { name: 'Evaluations' })).toBeVisible();
  await page.getByRole('link', { name: 'Open in run B' }).click();
  await expect(page).toHaveURL(/\/runs\/\w+\?item=/);
});

test('three runs are side by side, and stacked in a narrow window', async ({ page, request }) => {
  const [c, b, a] = await runsOf(request, 'support-agent');
  await page.goto(`/compare?a=${a}&b=${b}&c=${c}`);
  await settled(page);
  await expect(page.getByRole('list', { name: 'Compared runs' }).locator(':scope > li')).toHaveCount(3);
  await axe(page);
  await page.setViewportSize(NARROW.viewport);
  await noSidewaysScroll(page);
});

test('the marks of a replayed run stay within its card, however narrow', async ({ page, request }) => {
  const tagged = await request.get(`/api/runs?experiment=support-agent&tag=${REPLAYED_TAG}`);
  const replayed = ((await tagged.json()) as Runs).runs[0];
  if (!replayed) throw new Error('the store has no replayed run');
  const { id, totalItems, replayedItems } = replayed;
  const other = (await runsOf(request, 'support-agent')).find((run) => run !== id);
  await page.goto(`/compare?a=${other}&b=${id}`);
  await settled(page);
  const card = page.getByRole('list', { name: 'Compared runs' }).locator(':scope > li').nth(1);
  const marks = card.getByText(`${replayedItems} of ${totalItems} as recorded`);
  await expect(marks).toHaveCount(2);
  await axe(page);
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const end = async (element: typeof card) => {
      const box = await element.boundingBox();
      return (box?.x ?? 0) + (box?.width ?? 0);
    };
    for (const mark of await marks.all()) {
      expect(await end(mark), `at ${width} pixels`).toBeLessThan(await end(card));
    }
    await noSidewaysScroll(page);
  }
});

test('the list of items loads more while scrolling', async ({ page, request }) => {
  const [b, a] = await runsOf(request, 'support-agent');
  await page.goto(`/compare?a=${a}&b=${b}&sort=index`);
  await settled(page);
  await page.keyboard.press('End');
  await expect(
    page.getByRole('table', { name: /Items/ }).locator('tr[aria-rowindex]').last(),
  ).toHaveAttribute('aria-rowindex', '97');
});

test('the tabs count the items that match the search', async ({ page, request }) => {
  const [b, a] = await runsOf(request, 'support-agent');
  await page.goto(`/compare?a=${a}&b=${b}&search=refund&only=regressed`);
  await settled(page);
  const tab = page.getByRole('button', { name: /^Regressed/ });
  const counted = Number((await tab.textContent())?.replace(/\D/g, ''));
  expect(counted).toBeGreaterThan(0);
  const table = page.getByRole('table', { name: /Items/ });
  await expect(table).toHaveAttribute('aria-rowcount', String(counted + 1));
});

test('a shared link scrolls to its item, however far down it is', async ({ page, request }) => {
  const [b, a] = await runsOf(request, 'support-agent');
  const last = await request.get(`/api/compare?a=${a}&b=${b}&sort=worst&limit=1&offset=90`);
  const { items } = (await last.json()) as ComparedRuns;
  await page.goto(`/compare?a=${a}&b=${b}&item=${items[0]?.key}`);
  await expect(page.getByRole('table', { name: 'Evaluations' })).toBeInViewport();
});

test('an unknown run is reported', async ({ page, faults }) => {
  faults.expect(/404/);
  await page.goto('/compare?a=nothing&b=nowhere');
  await expect(page.getByRole('alert')).toContainText('Run not found');
  await page.getByRole('link', { name: 'Select other runs' }).click();
  await expect(page.getByRole('heading', { name: 'Select runs' })).toBeVisible();
});
