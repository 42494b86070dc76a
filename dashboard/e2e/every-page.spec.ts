// Checks of every page: no axe violations in light and dark, and no horizontal scrolling in a narrow window.
import { axe, DARK, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { PAGES } from './pages';

for (const [name, addressOf] of Object.entries(PAGES)) {
  test.describe(`the page ${name}`, () => {
    test.beforeEach(async ({ page, request }) => {
      await page.goto(await addressOf(request));
      await settled(page);
    });

    test('has no violation in light', async ({ page }) => {
      await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
      await axe(page);
    });

    test.describe('in dark', () => {
      test.use(DARK);
      test('has no violation', async ({ page }) => {
        await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
        await axe(page);
      });
    });

    test.describe('in a narrow window', () => {
      test.use(NARROW);
      test('is as narrow as the window, and has no violation', async ({ page }) => {
        await noSidewaysScroll(page);
        await axe(page);
      });
    });
  });
}
