// The page of an experiment: its runs with a column per score, and its trends.
import { choose } from './choose';
import { axe, DARK, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';

const AT = '/experiments/handbook-questions';
const TRENDS = `${AT}?tab=trends`;

test.describe('the runs', () => {
  test('are sorted by a score, and the URL keeps the order', async ({ page }) => {
    await page.goto(AT);
    await settled(page);
    const table = page.getByRole('table', { name: 'Runs' });
    const head = table.getByRole('columnheader', { name: 'correctness' });
    await head.getByRole('button').click();
    await expect(head).toHaveAttribute('aria-sort', 'ascending');
    const scores = async () => {
      const place = await head.evaluate((cell) => (cell as HTMLTableCellElement).cellIndex);
      const texts = await table.locator(`tbody td:nth-child(${place + 1})`).allTextContents();
      return texts.slice(0, 5).map((text) => Number(text.slice(0, 5)));
    };
    const lowest = await scores();
    expect(lowest).toEqual(lowest.toSorted((one, other) => one - other));
    await head.getByRole('button').click();
    await expect(page).toHaveURL(/sort=score%3Acorrectness&order=desc/);
    await page.reload();
    await settled(page);
    expect((await scores())[0]).toBeGreaterThan(lowest[0] ?? 1);
  });

  test('are filtered, selected by keyboard and compared', async ({ page }) => {
    await page.goto(AT);
    await settled(page);
    await choose(page, 'Verdict', 'Passed');
    await expect(page).toHaveURL(/verdict=passed/);
    const rows = page.locator('[data-row]');
    const [newer, older] = [
      await rows.nth(0).getAttribute('data-row'),
      await rows.nth(1).getAttribute('data-row'),
    ];
    for (const key of ['j', 'x', 'j', 'x']) {
      await page.keyboard.press(key);
      await expect(page.locator('[data-row]:focus')).toHaveCount(1);
    }
    const bar = page.getByRole('region', { name: 'Selected runs' });
    await expect(bar.getByRole('link', { name: 'Compare 2 runs' })).toHaveAttribute(
      'href',
      `/runs/${newer}?compare=${older}`,
    );
  });

  test('scroll in their own box, which ends with the window', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.goto(AT);
    await settled(page);
    await noSidewaysScroll(page);
    const box = await page.getByRole('region', { name: 'Runs of the experiment' }).boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(720);
    await page.keyboard.press('j');
    // The row gets the focus in the next frame.
    await expect(page.locator('[data-row]').first()).toBeFocused();
    await page.keyboard.press('x');
    const bar = await page.getByRole('region', { name: 'Selected runs' }).boundingBox();
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBe(720);
  });

  for (const [name, options] of Object.entries({ light: {}, dark: DARK, narrow: NARROW })) {
    test.describe(name, () => {
      test.use(options);
      test('have no violation with selected runs', async ({ page }) => {
        await page.goto(AT);
        await settled(page);
        await page.getByRole('checkbox').nth(0).click();
        await page.getByRole('checkbox').nth(1).click();
        await expect(page.getByRole('link', { name: 'Compare 2 runs' })).toBeVisible();
        await noSidewaysScroll(page);
        await axe(page);
      });
    });
  }
});

test('an unknown experiment has a heading and plain words', async ({ page }) => {
  await page.goto('/experiments/no-such-experiment');
  await expect(page.getByRole('heading', { level: 1, name: 'Experiment not found' })).toBeVisible();
  await expect(page.getByRole('main')).not.toContainText(/`|\/api\//);
});

test.describe('the trends', () => {
  test('have the address of the experiment; the former one leads there', async ({ page }) => {
    await page.goto('/trends?experiment=handbook-questions&tag=main');
    await expect(page).toHaveURL(`${TRENDS}&tag=main`);
    await expect(page.getByRole('combobox', { name: 'Tag' })).toHaveText('main');
    await page.goto('/trends');
    await expect(page).toHaveURL('/');
  });

  test('open a run by mouse and keyboard', async ({ page }) => {
    await page.goto(TRENDS);
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

  test('keep hidden lines and the evaluator in the URL', async ({ page }) => {
    await page.goto(TRENDS);
    await page.getByRole('button', { name: 'relevance' }).click();
    await expect(page).toHaveURL(/hide=relevance/);
    await choose(page, 'Evaluator', 'correctness');
    await expect(page.getByRole('button', { name: 'faithfulness' })).toHaveCount(0);
    await page.getByRole('button', { name: 'By time' }).click();
    await page.reload();
    await expect(page.getByRole('button', { name: 'By time' })).toHaveAttribute('aria-pressed', 'true');
    await expect(page.getByRole('combobox', { name: 'Evaluator' })).toHaveText('correctness');
  });

  test('have a scatter plot whose points say their run and open it', async ({ page }) => {
    await page.goto(TRENDS);
    await choose(page, 'Horizontal axis', 'Mean latency');
    const panel = page.getByRole('region', { name: 'Score, latency and cost' });
    const points = panel.locator('[data-point]');
    await expect(points.first()).toBeVisible();
    await points.last().focus();
    await expect(panel.getByText(/^Mean latency \d/)).toBeVisible();
    await page.keyboard.press('ArrowLeft');
    const id = await page.locator('[data-point]:focus').getAttribute('data-point');
    expect(id).not.toBe(await points.last().getAttribute('data-point'));
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(`/runs/${id}`);
    await page.goBack();
    await points.first().click();
    await expect(page).toHaveURL(/\/runs\/\w+/);
  });

  test('add no styles to the page', async ({ page }) => {
    await page.goto(TRENDS);
    await expect(page.locator('.recharts-line').first()).toBeAttached();
    await expect(page.locator('[data-point]').first()).toBeVisible();
    await expect(page.locator('style')).toHaveCount(0);
  });
});
