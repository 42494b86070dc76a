// A store without runs: each page shows the next command.
import { axe, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';

test.use({ store: 'empty' });

for (const address of ['/', '/?view=runs', '/experiments/none']) {
  test.describe(`${address} of an empty store`, () => {
    test.use(NARROW);
    test('shows the next command', async ({ page }) => {
      await page.goto(address);
      await settled(page);
      await expect(page.getByRole('main').getByText('cargo cobalt', { exact: false }).first()).toBeVisible();
      await axe(page);
      await noSidewaysScroll(page);
    });
  });
}
