// The fixtures of every end-to-end test: a server over the named store, and a page that must not report faults.
import AxeBuilder from '@axe-core/playwright';
import { test as base, type ConsoleMessage, expect, type Page } from '@playwright/test';
import { type Server, serve } from './server';
import type { StoreName } from './stores/write';

export { expect };

/** Options for `test.use`. */
export const NARROW = { viewport: { width: 390, height: 844 } };
export const DARK = { colorScheme: 'dark' } as const;

/** Errors, warnings and policy violations of the page during a test. */
interface Faults {
  /** Allows a fault that the test provokes, such as the console error of a 404. */
  expect(pattern: RegExp): void;
}

interface Fixtures {
  faults: Faults;
}

interface WorkerFixtures {
  /** The served store. Select another with `test.use({ store: 'large' })` at the top of a file. */
  store: StoreName;
  server: Server;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  store: ['demo', { scope: 'worker', option: true }],

  server: [
    async ({ store }, use) => {
      const server = await serve(store);
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],

  baseURL: async ({ server }, use) => use(server.url),

  faults: [
    async ({ page, server }, use) => {
      const found: string[] = [];
      const allowed: RegExp[] = [];
      await watch(page, server.url, (fault) => found.push(fault));
      await use({ expect: (pattern) => allowed.push(pattern) });
      const unexpected = found.filter((fault) => !allowed.some((pattern) => pattern.test(fault)));
      expect(unexpected, 'faults of the page').toEqual([]);
    },
    { auto: true },
  ],
});

async function watch(page: Page, server: string, report: (fault: string) => void): Promise<void> {
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      report(`console: ${message.text()} (${message.location().url})`);
    }
  });
  page.on('pageerror', (error) => report(`error: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== server && protocol !== 'data:') report(`request to another server: ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (violation) => {
      console.error(`policy: ${violation.violatedDirective} forbids ${violation.blockedURI}`);
    });
  });
}

/** The rules that depend on colours. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Asserts that axe finds no accessibility violations. In dark only colours are checked: the rest is that of the same page in light,
 * where each such test also runs.
 */
export async function axe(page: Page): Promise<void> {
  // The page has no frames, for which axe would open another page.
  const builder = new AxeBuilder({ page }).setLegacyMode();
  const isDark = await page.evaluate(() => document.documentElement.dataset.theme === 'dark');
  const { violations } = await (isDark ? builder.withRules(COLOURS) : builder).analyze();
  const found = violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map((node) => node.html) }));
  expect(found, 'axe violations').toEqual([]);
}

/** Asserts that the page is not wider than its window. Parts of it may scroll. */
export async function noSidewaysScroll(page: Page): Promise<void> {
  const beyond = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const elements = [...document.body.querySelectorAll('*')];
    const wide = elements.filter((element) => element.getBoundingClientRect().right > clientWidth + 1);
    return wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 200));
  });
  expect(beyond, 'elements beyond the window').toEqual([]);
}

/** Makes the chunks of code with these names unavailable, and returns a function that makes them available. */
export async function blockCode(page: Page, names: string, status?: number): Promise<() => Promise<void>> {
  const pattern = new RegExp(`/assets/(${names})-[^/]*\\.js$`);
  await page.route(pattern, (route) => (status === undefined ? route.abort() : route.fulfill({ status })));
  return () => page.unroute(pattern);
}

/** Waits until the page has loaded and rendered its data. */
export async function settled(page: Page): Promise<void> {
  // Before the page is rendered, nothing is busy either.
  await expect(page.getByRole('main').locator(':scope > *').first()).toBeVisible();
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0, { timeout: 30_000 });
  await page.evaluate(() => document.fonts.ready);
}
