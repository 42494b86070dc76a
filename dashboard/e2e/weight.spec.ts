// The compressed transfer size of each page: a first visit must be fast on a slow connection.
import { expect, settled, test } from './fixtures';
import { PAGES } from './pages';

const MAX_BYTES = 450_000;

for (const [name, addressOf] of Object.entries(PAGES)) {
  test(`the page ${name} weighs less than 450 kB`, async ({ page, request }) => {
    const address = await addressOf(request);
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (finished) => {
      sizes.push(finished.sizes().then((size) => size.responseBodySize + size.responseHeadersSize));
    });
    await page.goto(address);
    await settled(page);
    const weight = (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
    console.log(`${name}: ${(weight / 1000).toFixed(0)} kB in ${sizes.length} responses`);
    expect(weight).toBeLessThan(MAX_BYTES);
    expect(weight).toBeGreaterThan(10_000);
  });
}
