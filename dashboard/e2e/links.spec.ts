// Saved and shared URLs: they show the same page again, or report what was not found.
import { expect, settled, test } from './fixtures';
import { PAGES } from './pages';

for (const [name, addressOf] of Object.entries(PAGES)) {
  test(`the URL of the page ${name} can be opened directly and reloaded`, async ({ page, request }) => {
    const address = await addressOf(request);
    await page.goto(address);
    await settled(page);
    const title = await page.title();
    expect(title).not.toBe('');
    await page.reload();
    await settled(page);
    await expect(page).toHaveTitle(title);
    expect(page.url()).toContain(address.split('?')[0] ?? '');
  });
}

test('an unknown URL is reported', async ({ page }) => {
  await page.goto('/no/such/page');
  await expect(page.getByRole('main')).toContainText('Page not found');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Experiments' }).click();
  await expect(page).toHaveURL('/');
});

test('an unknown run is reported, without a page error', async ({ page, faults }) => {
  faults.expect(/404/);
  await page.goto('/runs/000000000000');
  await expect(page.getByRole('heading', { level: 1, name: 'Run not found' })).toBeVisible();
  await expect(page.getByRole('main')).toContainText('000000000000');
  await expect(page.getByRole('main')).not.toContainText(/`|\/api\//);
});

test('back and forward navigate between the pages', async ({ page }) => {
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await page.goto('/');
  await pages.getByRole('link', { name: 'All runs' }).click();
  await expect(page).toHaveURL('/?view=runs');
  await page.getByRole('row').getByRole('link').first().click();
  await expect(page).toHaveURL(/\/runs\/\w+$/);
  await page.goBack();
  await expect(page).toHaveURL('/?view=runs');
  await page.goForward();
  await expect(page).toHaveURL(/\/runs\/\w+$/);
});
