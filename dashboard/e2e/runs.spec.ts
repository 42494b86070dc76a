// The list of all runs: filters, sort order and selection, all kept in the URL.
import { choose } from './choose';
import { axe, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { REPLAYED_TAG } from './stores/demo';

test('filters narrow the list, are kept in the URL, and survive a reload', async ({ page, request }) => {
  await page.goto('/?view=runs');
  await settled(page);
  const { runs } = await (await request.get('/api/runs?experiment=support-agent')).json();
  await choose(page, 'Experiment', `support-agent (${runs.length})`);
  await choose(page, 'Verdict', 'Failed');
  await expect(page).toHaveURL(/experiment=support-agent&verdict=failed/);
  // The previous runs are shown until the response arrives.
  await expect(page.getByRole('row').getByText('Passed')).toHaveCount(0);
  const found = page.getByText(/^\d+ of \d+ runs$/);
  const text = await found.textContent();
  await page.reload();
  await expect(found).toHaveText(text ?? '');
  await expect(page.getByRole('row').getByText('Passed')).toHaveCount(0);

  await page.getByRole('button', { name: 'Remove filter Failed' }).click();
  await expect(page).not.toHaveURL(/verdict/);
});

test('replayed runs are marked', async ({ page }) => {
  await page.goto(`/?view=runs&tag=${REPLAYED_TAG}&experiment=support-agent`);
  await settled(page);
  const runs = await page.locator('[data-row]').count();
  expect(runs).toBeGreaterThan(0);
  await expect(page.getByText('replayed', { exact: true })).toHaveCount(runs);
  await page.goto('/?view=runs&tag=nightly');
  await settled(page);
  await expect(page.getByText('replayed', { exact: true })).toHaveCount(0);
});

test('a search without matches can be cleared', async ({ page }) => {
  await page.goto('/?view=runs');
  await page.getByRole('searchbox').fill('no such run');
  await page.getByRole('button', { name: 'Clear all filters' }).click();
  await expect(page.getByRole('searchbox')).toHaveValue('');
  await expect(page.locator('[data-row]').first()).toBeVisible();
});

test('a header sorts and reverses the order', async ({ page }) => {
  await page.goto('/?view=runs');
  const header = page.getByRole('columnheader', { name: 'Duration' });
  await header.getByRole('button').click();
  await expect(header).toHaveAttribute('aria-sort', 'descending');
  await header.getByRole('button').click();
  await expect(header).toHaveAttribute('aria-sort', 'ascending');
  await expect(page).toHaveURL(/sort=duration&order=asc/);
});

test('runs are selected by keyboard and compared, the oldest as the reference', async ({ page }) => {
  await page.goto('/?view=runs&experiment=support-agent');
  const links = page.locator('[data-row]');
  await expect(links.nth(1)).toBeVisible();
  const newer = await links.nth(0).getAttribute('data-row');
  const older = await links.nth(1).getAttribute('data-row');
  await page.keyboard.press('j');
  await expect(links.nth(0)).toBeFocused();
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await expect(links.nth(1)).toBeFocused();
  await page.keyboard.press('x');
  await page.getByRole('link', { name: 'Compare 2 runs' }).click();
  await expect(page).toHaveURL(`/runs/${newer}?compare=${older}`);
});

test('the selected runs are at the bottom of the window, below a short list too', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/?view=runs&verdict=partial');
  await page.getByRole('checkbox').first().click();
  const bar = await page.getByRole('region', { name: 'Selected runs' }).boundingBox();
  const list = await page.getByRole('table', { name: 'Runs' }).boundingBox();
  expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBe(900);
  expect((list?.y ?? 0) + (list?.height ?? 0)).toBeLessThan(bar?.y ?? 0);
});

test('runs that are selected in quick succession are all kept', async ({ page }) => {
  await page.goto('/?view=runs');
  await settled(page);
  const boxes = await page.getByRole('row').getByRole('checkbox').all();
  const places = await Promise.all(boxes.slice(0, 3).map((box) => box.boundingBox()));
  await Promise.all(places.map((place) => page.mouse.click((place?.x ?? 0) + 8, (place?.y ?? 0) + 8)));
  await expect(page.getByRole('link', { name: 'Compare 3 runs' })).toBeVisible();
});

test('partial runs can be filtered, and names and verdicts sorted in both orders', async ({ page }) => {
  await page.goto('/?view=runs&verdict=partial');
  await settled(page);
  await expect(page.getByText(/^[1-9]\d* of \d+ runs$/)).toBeVisible();
  await expect(page.getByRole('row').getByText('Passed', { exact: true })).toHaveCount(0);

  for (const [header, first, last] of [
    ['Experiment', 'handbook-questions', 'support-agent'],
    ['Verdict', /Error|Failed/, 'Passed'],
  ] as const) {
    await page.goto('/?view=runs');
    const row = page.getByRole('row').nth(1);
    const button = page.getByRole('columnheader', { name: header }).getByRole('button');
    await button.click();
    await expect(row).toContainText(first);
    await button.click();
    await expect(row).toContainText(last);
  }
});

test('a click on a row opens its run', async ({ page }) => {
  await page.goto('/?view=runs');
  const id = await page.locator('[data-row]').first().getAttribute('data-row');
  await page.getByRole('row').nth(1).getByRole('cell').nth(4).click();
  await expect(page).toHaveURL(`/runs/${id}`);
});

test('the shortcuts and palette dialogs have no axe violations', async ({ page }) => {
  await page.goto('/?view=runs');
  await settled(page);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await axe(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog', { name: 'Go to' }).getByRole('option').first()).toBeVisible();
  await axe(page);
});

test.describe('in a narrow window', () => {
  test.use(NARROW);

  test('runs are cards that can be selected and sorted', async ({ page }) => {
    await page.goto('/?view=runs');
    await settled(page);
    await expect(page.getByRole('list', { name: 'Runs' })).toBeVisible();
    await choose(page, 'Sort by', 'Sort by: Total cost');
    await expect(page).toHaveURL(/sort=cost/);
    await page.getByRole('checkbox').first().click();
    await expect(page.getByRole('region', { name: 'Selected runs' })).toBeVisible();
    await noSidewaysScroll(page);
    await axe(page);
  });
});
