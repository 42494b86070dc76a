// Output of agents is shown, never executed.
import type { Page } from '@playwright/test';
import type { Items, Runs } from '../src/api/types';
import { expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { itemAddress, PAGES } from './pages';
import { CAUGHT } from './stores/hostile';

test.use({ store: 'hostile' });

/** Asserts that no hostile code was executed, and that no link or element would execute it. */
async function expectHarmless(page: Page): Promise<void> {
  expect(await page.evaluate((name) => Reflect.get(window, name), CAUGHT)).toBeUndefined();
  expect(await page.evaluate(() => Reflect.get({}, 'polluted'))).toBeUndefined();
  const dangers = await page.evaluate(() => {
    const links = [...document.querySelectorAll('a[href]')].map((link) => (link as HTMLAnchorElement).href);
    const sources = [...document.querySelectorAll('[src]')].map((part) => (part as HTMLImageElement).src);
    return [...links, ...sources].filter(
      (address) => new URL(address, location.href).origin !== location.origin,
    );
  });
  expect(dangers).toEqual([]);
  await expect(page.locator('main :is(script, style, iframe, object, embed, img[onerror])')).toHaveCount(0);
}

for (const [name, addressOf] of Object.entries(PAGES)) {
  test.describe(`the page ${name}`, () => {
    test.use(NARROW);
    test('shows hostile texts as text, in the width of the window', async ({ page, request }) => {
      await page.goto(await addressOf(request));
      await settled(page);
      await expect(page.getByText(`window.${CAUGHT}=1`, { exact: false }).first()).toBeAttached();
      await expectHarmless(page);
      await noSidewaysScroll(page);
    });
  });
}

test('each hostile item can be opened', async ({ page, request }) => {
  test.setTimeout(180_000);
  const { runs } = (await (await request.get('/api/runs')).json()) as Runs;
  const id = runs[0]?.id ?? '';
  const { items } = (await (await request.get(`/api/runs/${id}/items?limit=1000`)).json()) as Items;
  expect(items.length).toBeGreaterThan(15);
  let patches = 0;
  for (const { key } of items) {
    await page.goto(itemAddress(id, key));
    await settled(page);
    patches += await page.getByRole('region', { name: 'Patch' }).count();
    await expectHarmless(page);
  }
  expect(patches).toBeGreaterThan(10);
});
