// The trends of an experiment: lines, points, and the table with the same values.
import { expect, test } from './fixtures';

const AT = '/trends?experiment=handbook-questions';

test('a point opens its run, by mouse and keyboard', async ({ page }) => {
  await page.goto(AT);
  const chart = page.getByRole('region', { name: 'Scores' }).locator('.recharts-surface').first();
  await chart.hover();
  await expect(page.getByText('Click or press Enter to open the run')).toBeVisible();
  await chart.click();
  await expect(page).toHaveURL(/\/runs\/\w+/);
  await page.goBack();
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/\w+/);
});

test('the active run is highlighted in the table', async ({ page }) => {
  await page.goto(AT);
  const chart = page.getByRole('region', { name: 'Latency' }).locator('.recharts-surface').first();
  await chart.hover();
  await expect(page.locator('tr[data-active]')).toHaveCount(1);
});

test('hidden lines and the evaluator are kept in the URL', async ({ page }) => {
  await page.goto(AT);
  await page.getByRole('button', { name: 'relevance' }).click();
  await expect(page).toHaveURL(/hide=relevance/);
  await page.getByRole('combobox', { name: 'Evaluator' }).selectOption('correctness');
  await expect(page.getByRole('button', { name: 'faithfulness' })).toHaveCount(0);
  await page.getByRole('button', { name: 'By time' }).click();
  await page.reload();
  await expect(page.getByRole('button', { name: 'By time' })).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByRole('combobox', { name: 'Evaluator' })).toHaveValue('correctness');
});

test('the table lists the latest run first', async ({ page, request }) => {
  const { runs } = await (await request.get('/api/runs?experiment=handbook-questions&limit=1')).json();
  await page.goto(AT);
  const table = page.getByRole('region', { name: 'Runs in the charts' });
  await table.getByRole('link').first().click();
  await expect(page).toHaveURL(new RegExp(`/runs/${runs[0].id}`));
});

test('charts add no styles to the page', async ({ page }) => {
  await page.goto(AT);
  await expect(page.locator('.recharts-line').first()).toBeAttached();
  await expect(page.locator('style')).toHaveCount(0);
});
