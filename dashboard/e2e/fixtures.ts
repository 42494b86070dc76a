// What every end-to-end test begins with: a server over the store that it names, and a page that may not complain.
import AxeBuilder from '@axe-core/playwright';
import { test as base, type ConsoleMessage, expect, type Page } from '@playwright/test';
import { type Server, serve } from './server';
import type { StoreName } from './stores/write';

export { expect };

/** Settings for `test.use`. */
export const NARROW = { viewport: { width: 390, height: 844 } };
export const DARK = { colorScheme: 'dark' } as const;

/** What went wrong in a page while a test looked at something else. */
interface Faults {
  /** Lets pass what a test provokes, such as the console's line on a 404. */
  expect(pattern: RegExp): void;
}

interface Fixtures {
  faults: Faults;
}

interface WorkerFixtures {
  /** The store that is served; `test.use({ store: 'large' })` at the top of a file chooses another. */
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
      expect(unexpected, 'what the page complained about').toEqual([]);
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

/** Holds that the page has nothing that a screen reader or a reader with weak eyes would miss. */
export async function axe(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map((node) => node.html) }));
  expect(found, 'what axe found').toEqual([]);
}

/** Holds that the page is no wider than its window; parts of it may scroll by themselves. */
export async function noSidewaysScroll(page: Page): Promise<void> {
  const beyond = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const elements = [...document.body.querySelectorAll('*')];
    const wide = elements.filter((element) => element.getBoundingClientRect().right > clientWidth + 1);
    return wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 200));
  });
  expect(beyond, 'what reaches beyond the window').toEqual([]);
}

/** Waits until the page has what it asked for, and has drawn it. */
export async function settled(page: Page): Promise<void> {
  // Before the page is there, nothing is busy either.
  await expect(page.getByRole('main').locator(':scope > *').first()).toBeVisible();
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0, { timeout: 30_000 });
  await page.evaluate(() => document.fonts.ready);
}
