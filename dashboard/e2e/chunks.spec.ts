// Code that cannot be loaded, because the server is down or has been updated: a message in its place, and the rest of the page stays.
import type { Page } from '@playwright/test';
import { axe, blockCode, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { PAGES } from './pages';

test.use({ store: 'agents' });

test.beforeEach(({ faults }) => {
  faults.expect(/Failed to load resource|ERR_FAILED/);
});

const message = (page: Page) => page.getByRole('alert').filter({ hasText: 'Failed to load' });

async function expectFrame(page: Page): Promise<void> {
  await expect(page.getByRole('banner').getByRole('link', { name: 'Cobalt, experiments' })).toBeVisible();
  await expect(page.getByText(/unexpected application error/i)).toHaveCount(0);
}

for (const [why, status] of [
  ['offline', undefined],
  ['after an update', 404],
] as const) {
  test(`a page that cannot be loaded ${why} can be retried`, async ({ page, request }) => {
    const allow = await blockCode(page, 'run', status);
    await page.goto('/');
    await settled(page);
    await page
      .getByRole('link', { name: /^Latest run/ })
      .first()
      .click();
    await expect(message(page)).toContainText('Failed to load this page');
    await expect(page.getByRole('button', { name: 'Reload page' })).toBeVisible();
    await expectFrame(page);
    await axe(page);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(message(page)).toBeVisible();
    // Other pages work, and the page works when it is opened again.
    await page.getByRole('link', { name: 'Cobalt, experiments' }).click();
    await expect(page.getByRole('link', { name: /^Latest run/ }).first()).toBeVisible();
    await page.goBack();
    await expect(message(page)).toBeVisible();
    await allow();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('table', { name: 'Items' })).toBeVisible();
    await page.goto(await PAGES.run(request));
    await expect(page.getByRole('table', { name: 'Items' })).toBeVisible();
  });
}

test('a page that cannot be loaded at first can be retried', async ({ page, request }) => {
  const allow = await blockCode(page, 'run');
  await page.goto(await PAGES.run(request));
  await expect(message(page)).toContainText('Failed to load this page');
  await expectFrame(page);
  await allow();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('table', { name: 'Items' })).toBeVisible();
});

test('charts that cannot be loaded leave the other panels', async ({ page, request }) => {
  const allow = await blockCode(page, 'chart|scatter');
  await page.goto(await PAGES.trends(request));
  await expect(message(page).first()).toContainText('Failed to load the chart');
  await expect(page.getByRole('heading', { name: 'Scores' })).toBeVisible();
  await expectFrame(page);
  await axe(page);
  await allow();
  for (const retry of [/Scores/, /Score, latency and cost/]) {
    const panel = page.getByRole('region', { name: retry });
    await panel.getByRole('button', { name: 'Try again' }).click();
    await expect(panel.getByRole('alert')).toHaveCount(0);
  }
  await settled(page);
  await expect(message(page)).toHaveCount(0);
});

test('a search that cannot be loaded leaves the page', async ({ page }) => {
  const allow = await blockCode(page, 'palette');
  await page.goto('/');
  await settled(page);
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog', { name: 'Go to' });
  await expect(dialog).toContainText('Failed to load the search');
  await axe(page);
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('link', { name: /^Latest run/ }).first()).toBeVisible();
  // The reopened search tries again by itself.
  const retried = page.waitForEvent('requestfailed');
  await page.keyboard.press('Control+k');
  await retried;
  await allow();
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await expect(dialog.getByRole('combobox')).toBeFocused();
});

test.describe('texts', () => {
  test('are plain if their formatter cannot be loaded', async ({ page, request }) => {
    const allow = await blockCode(page, 'highlight|markdown');
    await page.goto(await PAGES.item(request));
    const warning = page.getByRole('status').filter({ hasText: 'Failed to load the text formatter' });
    await expect(warning).toBeVisible();
    await expect(page.getByRole('table', { name: 'Items' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Copy a link to this item' })).toBeVisible();
    await expectFrame(page);
    await axe(page);
    await allow();
    await warning.getByRole('button', { name: 'Try again' }).click();
    await expect(warning).toBeHidden();
  });

  test.describe('in a narrow window', () => {
    test.use(NARROW);

    test('leave room for the warning', async ({ page, request }) => {
      await blockCode(page, 'highlight|markdown');
      await page.goto(await PAGES.item(request));
      await expect(page.getByText(/Failed to load the text formatter/)).toBeVisible();
      await noSidewaysScroll(page);
    });
  });
});
