// The page of a team: `serve --remote`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { axe, test as base, expect, NARROW, noSidewaysScroll, settled } from './fixtures';
import { COBALT } from './programs';
import { type Server, serve } from './server';

/** More than the interval between two syncs. */
const SYNC_TIMEOUT_MS = 30_000;

interface Team {
  server: Server;
  /** The folder of the remote store. */
  remote: string;
}

const test = base.extend<object, Team>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern
  remote: [async ({}, use) => use(mkdtempSync(join(tmpdir(), 'cobalt-remote-'))), { scope: 'worker' }],

  server: [
    async ({ remote }, use) => {
      const push = (project: string) => {
        const env = { ...process.env, COBALT_DIR: join(project, '.cobalt') };
        execFileSync(COBALT, ['cobalt', 'push', '--all', '--remote', remote], { cwd: project, env });
        return { COBALT_DIR: join(project, 'elsewhere') };
      };
      const server = await serve('demo', push, [`--remote=${remote}`]);
      await use(server);
      await server.stop();
      rmSync(remote, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 60_000 },
  ],
});

test('lists, runs and comparisons are those of the store, without actions', async ({ page, remote }) => {
  await page.goto('/?view=runs');
  await expect(page.getByTitle(`Runs of the remote store ${remote}`)).toBeVisible();
  await settled(page);
  await axe(page);
  await page.getByRole('main').locator('a[href^="/runs/"]').first().click();
  await expect(page.getByRole('navigation', { name: 'Runs of the experiment' })).toBeVisible();
  await settled(page);
  await expect(page.getByRole('main').getByRole('row').nth(1)).toBeVisible();
  await expect(page.getByRole('button', { name: /^(Actions|Run|Delete)/ })).toHaveCount(0);
  await axe(page);
});

test.describe('on a phone', () => {
  test.use(NARROW);

  test('a lost store is said, and the list stays', async ({ page, remote }) => {
    await page.goto('/?view=runs');
    await settled(page);
    renameSync(remote, `${remote}-lost`);
    const warning = page.getByRole('status').filter({ hasText: 'could not be synced since' });
    await expect(warning).toBeVisible({ timeout: SYNC_TIMEOUT_MS });
    await expect(page.getByRole('main').locator('a[href^="/runs/"]').first()).toBeVisible();
    await axe(page);
    await noSidewaysScroll(page);
    renameSync(`${remote}-lost`, remote);
    await expect(warning).toBeHidden({ timeout: SYNC_TIMEOUT_MS });
  });
});
