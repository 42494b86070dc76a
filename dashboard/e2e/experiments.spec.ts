// The start page: experiments, and the tasks that begin there, in clicks.
import { axe, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';

const LATEST = /^Latest run: /;

test('why the latest run failed is one click away', async ({ page, request }) => {
  const { experiments } = await (await request.get('/api/experiments')).json();
  const failed = experiments.find(
    ({ latest }: { latest: { verdict: string } }) => latest.verdict !== 'passed',
  );
  await page.goto('/');
  await settled(page);
  const row = page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: failed.name, exact: true }) });
  await row.getByRole('link', { name: LATEST }).click();
  await expect(page).toHaveURL(`/runs/${failed.latest.id}`);
  await expect(
    page
      .getByRole('main')
      .getByText(/Failed|Error/)
      .first(),
  ).toBeInViewport();
});

test('the regressions against the run before are one click away', async ({ page, request }) => {
  const { runs } = await (await request.get('/api/runs?experiment=support-agent&verdict=passed')).json();
  await page.goto('/');
  await settled(page);
  const row = page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: 'support-agent', exact: true }) });
  await row.getByRole('link', { name: 'Compare with previous' }).click();
  await expect(page).toHaveURL(/\/runs\/\w+\?compare=\w+&only=regressed/);
  expect(page.url()).toContain(`/runs/${runs[0].id}?`);
});

test('experiments are searched, moved through and opened by keyboard', async ({ page }) => {
  await page.goto('/');
  await settled(page);
  await page.keyboard.press('/');
  await page.keyboard.type('support');
  await expect(page.getByText(/^1 of \d+ experiments$/)).toBeVisible();
  await page.keyboard.press('Tab');
  await page.keyboard.press('j');
  await expect(page.locator('[data-row="support-agent"]')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/experiments/support-agent');
  const trail = page.getByRole('navigation', { name: 'Breadcrumbs' });
  await expect(trail).toContainText('Experiments');
  await trail.getByRole('link', { name: 'Experiments' }).click();
  await expect(page).toHaveURL('/');
});

test('a head sorts, which survives a reload', async ({ page }) => {
  await page.goto('/');
  await settled(page);
  const head = page.getByRole('columnheader', { name: 'Mean latency' });
  await head.getByRole('button').click();
  await expect(head).toHaveAttribute('aria-sort', 'descending');
  const first = await page.locator('[data-row]').first().getAttribute('data-row');
  await page.reload();
  await settled(page);
  await expect(page.locator('[data-row]').first()).toHaveAttribute('data-row', first ?? '');
});

for (const width of [1280, 1024]) {
  test(`nothing is wider than a window of ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    for (const address of ['/', '/?view=runs', '/experiments/support-agent']) {
      await page.goto(address);
      await settled(page);
      await noSidewaysScroll(page);
    }
  });
}

test.describe('in a narrow window', () => {
  test.use(NARROW);
  test('experiments are cards', async ({ page }) => {
    await page.goto('/');
    await settled(page);
    const cards = page.getByRole('list', { name: 'Experiments' });
    await expect(cards.getByRole('link', { name: LATEST }).first()).toBeVisible();
    await noSidewaysScroll(page);
    await axe(page);
  });
});
