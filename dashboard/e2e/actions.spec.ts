// What can be done from the page: baselines, labels, deleting, and running experiments.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runs } from '../src/api/types';
import { axe, test as base, expect, NARROW, noSidewaysScroll, settled } from './fixtures';
import { COBALT, STEERED } from './programs';
import { type Server, serve } from './server';

// A server with a project that can be built: the files change, so it is not shared with other tests.
const test = base.extend<object, { server: Server }>({
  server: [
    async ({ store }, use) => {
      const server = await serve(store, buildableProject);
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
});

test.describe.configure({ mode: 'serial' });

/** Writes a package whose experiment is the test binary that is built already, and returns the variables of the server. */
function buildableProject(project: string): Record<string, string> {
  const write = (path: string, text: string) => {
    mkdirSync(join(project, path, '..'), { recursive: true });
    writeFileSync(join(project, path), text);
  };
  write(
    'Cargo.toml',
    '[package]\nname = "trial"\nversion = "0.1.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\ncobalt = { package = "cobalt-evals", path = "cobalt" }\n\n[[test]]\nname = "steered"\nharness = false\n',
  );
  write('src/lib.rs', '');
  write(
    'cobalt/Cargo.toml',
    '[package]\nname = "cobalt-evals"\nversion = "0.1.0"\nedition = "2024"\n\n[lib]\nname = "cobalt"\n',
  );
  write('cobalt/src/lib.rs', '');
  write('tests/steered.rs', 'fn main() { cobalt::main(); }\n');
  const items = Array.from({ length: 20 }, (_, place) =>
    JSON.stringify({ id: `question-${place + 1}`, answer: 'Paris', wait_ms: 600 }),
  );
  write('items.jsonl', items.join('\n'));
  const cargo = join(project, 'cargo');
  const metadata = JSON.parse(
    execFileSync('cargo', ['metadata', '--format-version=1', '--offline', '--no-deps'], {
      cwd: project,
      encoding: 'utf8',
    }),
  );
  const built = metadata.packages.find(({ name }: { name: string }) => name === 'trial');
  const artifact = {
    reason: 'compiler-artifact',
    package_id: built.id,
    manifest_path: built.manifest_path,
    target: built.targets.find((target: { name: string }) => target.name === 'steered'),
    profile: { opt_level: '0', debuginfo: 0, debug_assertions: true, overflow_checks: true, test: true },
    features: [],
    filenames: [STEERED],
    executable: STEERED,
    fresh: false,
  };
  // Stands in for cargo: it builds nothing.
  write('artifact.json', `${JSON.stringify(artifact)}\n{"reason":"build-finished","success":true}\n`);
  write(
    'cargo',
    `#!/bin/sh\nif [ "$1" = test ]; then\n  echo "   Compiling trial v0.1.0" >&2\n  cat "${project}/artifact.json"\nelse\n  exec cargo "$@"\nfi\n`,
  );
  chmodSync(cargo, 0o755);
  return { CARGO: cargo, E2E_NAME: 'slow-agent', E2E_CONCURRENCY: '1' };
}

const baseline = (server: Server, experiment: string) =>
  JSON.parse(readFileSync(join(server.project, `.cobalt/baselines/${experiment}.json`), 'utf8')) as {
    id: string;
  };

test('without the token the page only reads and says how to change things', async ({ page }) => {
  await page.goto('/?view=runs');
  await settled(page);
  await expect(page.getByRole('button', { name: 'Run…' })).toBeDisabled();
  await page.locator('[data-row]').first().click();
  await settled(page);
  await page.getByRole('button', { name: 'Actions' }).click();
  await expect(page.getByText(/open the link that cargo cobalt serve printed/)).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Delete…' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await axe(page);
});

test('the token leaves the address at once and is kept for all tabs', async ({ page, context, server }) => {
  await page.goto(server.link);
  await settled(page);
  expect(page.url()).toBe(`${server.url}/`);
  await expect(page.getByRole('button', { name: 'Run…' })).toBeEnabled();
  const other = await context.newPage();
  await other.goto(`${server.url}/`);
  await expect(other.getByRole('button', { name: 'Run…' })).toBeEnabled();
});

test('the first page has the change of the latest run against the saved baseline', async ({
  page,
  request,
  server,
}) => {
  const { runs } = (await (await request.get('/api/runs?limit=100')).json()) as Runs;
  const passed = runs.filter(({ name, verdict }) => name === 'support-agent' && verdict === 'passed');
  const older = passed.at(-1)?.id ?? '';
  const env = { ...process.env, COBALT_DIR: join(server.project, '.cobalt') };
  execFileSync(COBALT, ['cobalt', 'baseline', 'set', older], { cwd: server.project, env, stdio: 'ignore' });
  await page.goto('/');
  await settled(page);
  const row = page.getByRole('row').filter({ hasText: 'support-agent' });
  await expect(row).not.toContainText('Not compared with a baseline');
  await expect(row.getByRole('listitem').filter({ hasText: 'correctness' })).toContainText(
    /[+−]\d\.\d{3}(Improved|Within noise|Inconclusive)/,
  );
});

test('a run becomes the baseline, gets a name and tags, and other runs are deleted', async ({
  page,
  server,
}) => {
  await page.goto(server.link);
  await settled(page);
  await page.goto('/?view=runs');
  await settled(page);
  const passed = page
    .getByRole('row')
    .filter({ hasText: /passed/i })
    .locator('[data-row]')
    .first();
  const id = await passed.getAttribute('data-row');
  const experiment = await passed.locator('[title]').first().getAttribute('title');
  await passed.click();
  await settled(page);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Set as baseline…' }).click();
  await axe(page);
  await page.getByRole('button', { name: 'Set as baseline' }).click();
  await expect(page.getByRole('dialog', { name: 'Baseline saved' })).toBeVisible();
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('main').getByText('baseline', { exact: true })).toBeVisible();
  expect(baseline(server, experiment ?? '').id).toBe(id);

  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Name, tags and note…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('tuned <b>prompt</b>');
  await page.getByRole('textbox', { name: 'Tags' }).fill('release, v2');
  await page.getByRole('textbox', { name: 'Note' }).fill('two\nlines');
  await axe(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(page.getByRole('main')).toContainText('tuned <b>prompt</b>');
  await expect(page.getByRole('main')).toContainText('release');

  // The source of a baseline stays; another run goes.
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await expect(page.getByRole('dialog')).toContainText('Cannot be deleted');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.goto('/?view=runs');
  await settled(page);
  const others = page.getByRole('row').filter({ hasNotText: 'baseline' });
  const rows = others.filter({ has: page.locator('[data-row]') });
  const gone = await rows.nth(1).locator('[data-row]').getAttribute('data-row');
  await rows.nth(1).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('dialog')).toContainText('Frees');
  await axe(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(page.locator(`[data-row="${gone}"]`)).toHaveCount(0);
});

test('an experiment is started, followed and stopped, and its run is resumed', async ({ page, server }) => {
  await page.goto(server.link);
  await settled(page);
  await page.getByRole('button', { name: 'Run…' }).click();
  await page.getByRole('dialog').getByLabel('Experiment').fill('slow-agent');
  await axe(page);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const job = page.getByRole('region', { name: 'Job' });
  await expect(job.getByRole('log')).toContainText('Compiling trial');
  await expect(job).toContainText('cargo cobalt run --experiment=slow-agent');
  await expect(job.getByText(/^[2-9] of 20 items/)).toBeVisible();
  await axe(page);
  await job.getByRole('button', { name: 'Stop' }).click();
  await expect(job.getByText('Stopped')).toBeVisible();
  await expect(job.getByRole('log')).toContainText('cargo cobalt run --resume');
  await job.getByRole('link', { name: 'slow-agent' }).click();
  await settled(page);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Resume…' }).click();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await expect(job.getByText('Running')).toBeVisible();
  await expect(job.getByText(/^([5-9]|1\d) of 20 items/)).toBeVisible();
  await expect(page.getByRole('region', { name: 'Progress' })).toBeVisible();
  await job.getByRole('button', { name: 'Stop' }).click();
  await expect(job.getByText('Stopped')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Interrupted' })).toBeVisible();
  await page.getByRole('button', { name: 'Actions' }).click();
  await expect(page.getByRole('menuitem', { name: 'Resume…' })).toBeEnabled();
});

test.describe('in a narrow window', () => {
  test.use(NARROW);

  test('actions and jobs fit', async ({ page, server }) => {
    await page.goto(server.link);
    await settled(page);
    await page.getByRole('button', { name: 'Run…' }).click();
    await page.getByRole('dialog').getByLabel('Experiment').fill('--help');
    await noSidewaysScroll(page);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const job = page.getByRole('region', { name: 'Job' });
    await expect(job.getByText('Failed')).toBeVisible();
    await expect(job.getByRole('log')).toContainText('error:');
    await noSidewaysScroll(page);
    await axe(page);
    await job.getByRole('button', { name: 'Close' }).click();
    await expect(job).toBeHidden();
  });
});
