// A run in progress while the page is open: it appears, advances and gets its verdict without a reload.
import { end, start } from './agent';
import { expect, settled, test } from './fixtures';

test.use({ store: 'empty' });

test('a run is followed from its start to its verdict', async ({ page, server }) => {
  await page.goto('/');
  await settled(page);
  const loads: string[] = [];
  page.on('load', () => loads.push(page.url()));
  const run = start(server.project, { experiment: 'slow-agent', items: 8, msPerItem: 700 });
  try {
    const progress = page.getByRole('progressbar', { name: /slow-agent/ });
    await expect(progress).toBeVisible();
    await expect(progress).toHaveAttribute('aria-valuemax', '8');
    await expect.poll(async () => Number(await progress.getAttribute('aria-valuenow'))).toBeGreaterThan(1);
    await end(run);
    await expect(progress).toBeHidden();
    const row = page.getByRole('row').filter({ hasText: 'slow-agent' });
    await expect(row).toContainText(/passed/i);
    await row.getByRole('link', { name: /^Latest run: / }).click();
    await expect(page.getByRole('main')).toContainText(/passed/i);
    expect(loads).toEqual([]);
  } finally {
    await end(run, 'SIGKILL');
  }
});

test('the page of a run in progress updates when the run finishes', async ({ page, server }) => {
  const run = start(server.project, { experiment: 'watched-agent', items: 6, msPerItem: 700 });
  try {
    await page.goto('/');
    await page.getByRole('link', { name: 'watched-agent' }).first().click();
    await expect(page.getByRole('main')).toContainText(/of 6/);
    await end(run);
    await expect(page.getByRole('main')).toContainText(/passed/i);
    await expect(page.getByText('question-6').first()).toBeVisible();
  } finally {
    await end(run, 'SIGKILL');
  }
});

test('a killed run is shown with the command that resumes it', async ({ page, server }) => {
  const run = start(server.project, { experiment: 'killed-agent', items: 50, msPerItem: 300 });
  try {
    await page.goto('/');
    const progress = page.getByRole('progressbar', { name: /killed-agent/ });
    await expect.poll(async () => Number(await progress.getAttribute('aria-valuenow'))).toBeGreaterThan(1);
    await end(run, 'SIGKILL');
    await expect(progress).toBeHidden();
    await expect(page.getByText('cargo cobalt run --resume').first()).toBeVisible();
  } finally {
    await end(run, 'SIGKILL');
  }
});
