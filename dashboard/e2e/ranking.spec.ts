// Variants are ranked, from their runs down to an item.
import type { APIRequestContext } from '@playwright/test';
import type { Runs } from '../src/api/types';
import { axe, blockCode, DARK, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';

test.use({ store: 'variants' });

async function groupAddress(request: APIRequestContext): Promise<string> {
  const { runs } = (await (await request.get('/api/runs')).json()) as Runs;
  const group = runs.find((run) => run.variant != null)?.variant?.group;
  if (group === undefined) throw new Error('the store has no variants');
  return `/groups/${group}`;
}

test('a run in the list leads to the variants, and each variant to its run', async ({ page }) => {
  await page.goto('/?view=runs');
  await page.getByRole('link', { name: 'all variants beside mini' }).click();
  await expect(page.getByRole('heading', { name: 'Variants of handbook-questions' })).toBeVisible();
  await page.getByRole('button', { name: 'Variants', expanded: false }).click();
  const table = page.getByRole('table', { name: /^Variants with scores/ });
  await expect(table.getByRole('row')).toHaveCount(4);
  await table.getByRole('link', { name: 'large' }).click();
  await page.getByRole('button', { name: 'Details' }).click();
  const strip = page.getByRole('region', { name: 'Variant', exact: true });
  await expect(strip).toContainText('Variant large of handbook-questions');
  await expect(strip).toContainText('gpt-5.4');
  await strip.getByRole('link', { name: 'Compare all variants' }).click();
  await expect(page).toHaveURL(/\/groups\//);
});

test('a plot that cannot be loaded leaves its table', async ({ page, request, faults }) => {
  faults.expect(/Failed to load resource/);
  const allow = await blockCode(page, 'plot');
  await page.goto(await groupAddress(request));
  const figure = page.getByRole('figure', { name: /^Score against agent cost/ });
  await expect(figure.getByRole('alert')).toContainText('Failed to load the chart');
  await expect(page.getByRole('table', { name: /^Score and agent cost/ })).toBeVisible();
  await axe(page);
  await allow();
  await figure.getByRole('button', { name: 'Try again' }).click();
  await expect(figure.locator('circle')).toHaveCount(3);
});

test('the plot is drawn, and its table has the same values', async ({ page, request }) => {
  await page.goto(await groupAddress(request));
  const figure = page.getByRole('figure', { name: /^Score against agent cost/ });
  await expect(figure.locator('circle')).toHaveCount(3);
  await expect(figure).toContainText('luna');
  const rows = page.getByRole('table', { name: 'Score and agent cost, cheapest first' }).getByRole('row');
  await expect(rows.nth(1)).toContainText('luna');
  await expect(rows.nth(3)).toContainText('large');
});

test('items on which the runs disagree are opened with their outputs beside each other', async ({
  page,
  request,
}) => {
  await page.goto(await groupAddress(request));
  await page.getByRole('button', { name: /^Runs disagree/ }).click();
  await expect(page).toHaveURL(/only=disagreeing/);
  const table = page.getByRole('table', { name: 'Items with the output of each run' });
  await table.getByRole('button', { expanded: false }).first().press('Enter');
  await expect(page).toHaveURL(/item=/);
  for (const variant of ['luna', 'mini', 'large']) {
    await expect(page.getByRole('region', { name: `Output of ${variant}` })).toBeVisible();
  }
  await settled(page);
  await axe(page);
});

test('the matrix has the rest of the window, and is sorted by a variant or by the spread', async ({
  page,
  request,
}) => {
  await page.goto(`${await groupAddress(request)}?details=none`);
  await settled(page);
  const table = page.getByRole('table', { name: 'Items with the output of each run' });
  const box = page.locator('div:has(> table)').filter({ has: table });
  const { y = 0, height = 0 } = (await box.boundingBox()) ?? {};
  expect(y + height).toBeGreaterThan(850);
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(901);
  const luna = table.getByRole('columnheader', { name: /luna/ });
  await luna.getByRole('button').click();
  await expect(luna).toHaveAttribute('aria-sort', 'ascending');
  await expect(table.getByRole('cell').first()).toContainText(/Below pass mark|Error|Timeout/);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Output of luna' })).toBeVisible();
});

test('a re-scored run links to its origin', async ({ page }) => {
  await page.goto('/?view=runs');
  await page
    .getByRole('row', { name: /re-scored/ })
    .getByRole('link', { name: /luna/ })
    .click();
  await page.getByRole('button', { name: 'Details' }).click();
  const strip = page.getByRole('region', { name: 'Re-scored' });
  const origin = strip.getByRole('link', { name: /^run / });
  const id = (await origin.textContent())?.replace('run ', '');
  await origin.click();
  await expect(page).toHaveURL(new RegExp(`/runs/${id}$`));
});

test.describe('on a narrow screen', () => {
  test.use(NARROW);
  test('unknown values do not widen the page', async ({ page, request }) => {
    await page.route('**/api/groups/*', async (route) => {
      const response = await route.fetch();
      const group = await response.json();
      for (const run of group.ranking.runs) run.tokensPerItem = null;
      await route.fulfill({ response, json: group });
    });
    await page.goto(`${await groupAddress(request)}?details=runs`);
    await settled(page);
    await expect(page.getByText('unknown', { exact: true })).toHaveCount(3);
    await noSidewaysScroll(page);
  });
});

for (const [name, options] of Object.entries({ light: {}, dark: DARK, narrow: NARROW })) {
  test.describe(`the page of variants, ${name}`, () => {
    test.use(options);
    test('has no violation, and is as wide as the window', async ({ page, request }) => {
      for (const details of ['cost', 'runs', 'differences', 'none']) {
        await page.goto(`${await groupAddress(request)}?details=${details}`);
        await settled(page);
        await noSidewaysScroll(page);
        await axe(page);
      }
    });
  });
}
