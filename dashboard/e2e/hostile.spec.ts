// Output of agents is shown, never executed.
import type { Page } from '@playwright/test';
import type { Items, Runs } from '../src/api/types';
import { expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { itemAddress, PAGES, pane } from './pages';
import { CAUGHT } from './stores/hostile';

test.use({ store: 'hostile' });

/** Asserts that no hostile code was executed, and that no link or element would execute it. */
async function expectHarmless(page: Page): Promise<void> {
  expect(await page.evaluate((name) => Reflect.get(window, name), CAUGHT)).toBeUndefined();
  expect(await page.evaluate(() => Reflect.get({}, 'polluted'))).toBeUndefined();
  const dangers = await page.evaluate(() => {
    const isElsewhere = (address: string) => new URL(address, location.href).origin !== location.origin;
    const links = [...document.querySelectorAll<HTMLAnchorElement>('a[href]')].filter(({ href }) =>
      isElsewhere(href),
    );
    // A link leads to a site, and does not tell it where it was.
    const isHarmless = ({ href, relList, target }: HTMLAnchorElement) =>
      /^https?:/.test(href) &&
      relList.contains('noopener') &&
      relList.contains('noreferrer') &&
      target === '_blank';
    // Only images in a format without scripts are shown from the text itself.
    const sources = [...document.querySelectorAll<HTMLImageElement>('[src]')].map(({ src }) => src);
    return [
      ...links.filter((link) => !isHarmless(link)).map(({ outerHTML }) => outerHTML),
      ...sources.filter(
        (src) => isElsewhere(src) && !/^data:image\/(png|jpeg|gif|webp|avif);base64,/.test(src),
      ),
    ];
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

test('each tab of each hostile item can be opened', async ({ page, request, faults }) => {
  test.setTimeout(300_000);
  // Files that it names are not there.
  faults.expect(/404|400/);
  const { runs } = (await (await request.get('/api/runs')).json()) as Runs;
  const id = runs[0]?.id ?? '';
  const { items } = (await (await request.get(`/api/runs/${id}/items?limit=1000`)).json()) as Items;
  expect(items.length).toBeGreaterThan(15);
  const seen = { patches: 0, spans: 0, images: 0, links: 0 };
  for (const { key } of items) {
    await page.goto(itemAddress(id, key));
    await settled(page);
    const tabs = pane(page).getByRole('tab');
    for (let place = 0; place < (await tabs.count()); place += 1) {
      await tabs.nth(place).click();
      await settled(page);
      seen.patches += await page.getByRole('region', { name: 'Patch' }).count();
      seen.images += await page.locator('main img').count();
      seen.links += await page.locator('main a[href^=http][rel]').count();
      const span = page.getByRole('treegrid').locator('tbody tr[id]').first();
      if ((await span.count()) > 0) {
        await span.click();
        seen.spans += 1;
      }
      await expectHarmless(page);
      await noSidewaysScroll(page);
    }
  }
  // Each kind of content was there.
  expect(seen.patches).toBeGreaterThan(10);
  expect(seen.spans).toBeGreaterThan(10);
  expect(seen.images).toBeGreaterThan(0);
  expect(seen.links).toBeGreaterThan(0);
});
