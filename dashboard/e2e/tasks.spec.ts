// What people come for, from the list of experiments: each within the clicks it may take, without scrolling.
import type { Locator, Page } from '@playwright/test';
import { expect, settled, test } from './fixtures';
import { pane } from './pages';

test.use({ store: 'agents' });

/** Clicks as a user does: on what is in view. The calls in a test are the clicks that its task takes. */
async function click(page: Page, target: Locator): Promise<void> {
  await expect(target, 'the target is in view without scrolling').toBeInViewport({ ratio: 0.5 });
  await target.click();
  await settled(page);
}

test.beforeEach(async ({ page }) => {
  await page.goto('/');
  await settled(page);
});

const latestRun = (page: Page) => page.getByRole('link', { name: /^Latest run/ }).first();
const firstItem = (page: Page) => page.getByRole('table', { name: 'Items' }).getByRole('row').nth(1);

test('why did this run fail: one click', async ({ page }) => {
  await click(page, latestRun(page));
  await expect(page.getByText(/^Failed:/).first()).toBeInViewport({ ratio: 1 });
  await expect(
    page.getByRole('list', { name: 'Missed thresholds' }).getByRole('listitem').first(),
  ).toBeInViewport({
    ratio: 1,
  });
  await expect(firstItem(page)).toBeInViewport({ ratio: 1 });
});

test('the five worst items: two clicks', async ({ page }) => {
  await click(page, latestRun(page));
  const head = page.getByRole('columnheader', { name: /correctness/ });
  await click(page, head.getByRole('button', { name: /correctness/ }).first());
  await expect(head).toHaveAttribute('aria-sort', 'ascending');
  for (const place of [1, 2, 3, 4, 5]) {
    await expect(page.getByRole('table', { name: 'Items' }).getByRole('row').nth(place)).toBeInViewport({
      ratio: 1,
    });
  }
});

test('regressions against the last run: one click', async ({ page }) => {
  await click(page, page.getByRole('link', { name: 'Compare with previous' }).first());
  await expect(page).toHaveURL(/\?compare=\w+&only=regressed/);
  await expect(firstItem(page)).toBeInViewport();
});

test('the tool calls of an item with their times: two clicks, and one more to the source', async ({
  page,
}) => {
  await click(page, latestRun(page));
  await click(page, firstItem(page).getByRole('link').first());
  const call = pane(page).getByRole('list', { name: 'Tool calls' }).getByRole('listitem').first();
  await expect(call).toBeInViewport({ ratio: 1 });
  await expect(call).toContainText(/\d (ms|s)/);
  const source = pane(page).getByRole('button', { name: /^Copy the path of the item/ });
  await click(page, source);
});

test('to share a link to an item: one click', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await latestRun(page).click();
  await firstItem(page).getByRole('link').first().click();
  await settled(page);
  await click(page, page.getByRole('button', { name: 'Copy a link to this item' }));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
});
