// A run in progress while the page is open: it appears, advances and gets its verdict or is interrupted without a reload.
import type { ChildProcess } from 'node:child_process';
import type { Page } from '@playwright/test';
import { end, start } from './agent';
import { expect, settled, test } from './fixtures';
import type { Server } from './server';

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

/** Opens the page of a run in progress, with permission to change things. */
async function openRun(page: Page, server: Server, experiment: string): Promise<void> {
  await page.goto(server.link);
  await page.getByRole('link', { name: experiment }).first().click();
  await expect(page.getByRole('region', { name: 'Progress' })).toContainText(/[2-9] of 50 items/);
}

/** Asserts that the page shows an interrupted run. */
async function expectInterrupted(page: Page): Promise<void> {
  await expect(page.getByRole('region', { name: 'Interrupted' })).toContainText(
    /Interrupted after \d+ of 50/,
  );
  await expect(page.getByRole('region', { name: 'Progress' })).toBeHidden();
}

async function expectActions(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions' }).click();
  await expect(page.getByRole('menuitem', { name: 'Resume…' })).toBeEnabled();
  await expect(page.getByRole('menuitem', { name: 'Delete…' })).toBeEnabled();
}

const RUN = { items: 50, msPerItem: 300 };

/** How a run ends before its time while its page is open. */
const INTERRUPTIONS: Record<string, (run: ChildProcess, page: Page) => Promise<void>> = {
  killed: (run) => end(run, 'SIGKILL'),
  'stopped by Ctrl-C': (run) => end(run, 'SIGINT'),
  'killed while the connection is cut': async (run, page) => {
    await page.route('**/api/**', (route) => route.abort());
    // The browser notices the new network, and loses the stream.
    await page.evaluate(() => void window.dispatchEvent(new Event('online')));
    await expect(page.getByText(/Can't reach the server/)).toBeVisible();
    await end(run, 'SIGKILL');
    await page.unroute('**/api/**');
  },
};

for (const [name, interrupt] of Object.entries(INTERRUPTIONS)) {
  test(`the page of a run that is ${name} offers to resume it`, async ({ page, server, faults }) => {
    faults.expect(/Failed to load resource|ERR_/);
    const experiment = `${name.replaceAll(' ', '-')}-agent`;
    const run = start(server.project, { experiment, ...RUN });
    try {
      await openRun(page, server, experiment);
      await interrupt(run, page);
      await expectInterrupted(page);
      await expectActions(page);
    } finally {
      await end(run, 'SIGKILL');
    }
  });
}

test('a run that is killed while the server restarts is shown as interrupted', async ({
  page,
  server,
  faults,
}) => {
  faults.expect(/Failed to load resource|ERR_/);
  const run = start(server.project, { experiment: 'orphaned-agent', ...RUN });
  try {
    await openRun(page, server, 'orphaned-agent');
    await server.restart(() => end(run, 'SIGKILL'));
    await expectInterrupted(page);
  } finally {
    await end(run, 'SIGKILL');
  }
});

test('a killed run does not look alive because another one is', async ({ page, server }) => {
  const other = start(server.project, { experiment: 'other-agent', ...RUN });
  const run = start(server.project, { experiment: 'one-agent', ...RUN });
  try {
    await openRun(page, server, 'one-agent');
    await end(run, 'SIGKILL');
    await expectInterrupted(page);
    await expectActions(page);
    await expect(page.getByRole('link', { name: '1 run in progress' })).toBeVisible();
  } finally {
    await end(run, 'SIGKILL');
    await end(other, 'SIGKILL');
  }
});

test('the page of an item follows its run, too', async ({ page, server }) => {
  const run = start(server.project, { experiment: 'opened-agent', ...RUN });
  try {
    await openRun(page, server, 'opened-agent');
    await page.getByRole('table', { name: 'Items' }).getByRole('link').first().click();
    await page.getByRole('link', { name: 'Open as page' }).click();
    await settled(page);
    await end(run, 'SIGKILL');
    await page.getByRole('link', { name: /^Run opened-agent/ }).click();
    await expectInterrupted(page);
  } finally {
    await end(run, 'SIGKILL');
  }
});
