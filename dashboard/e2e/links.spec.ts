// Addresses that were kept or sent: they show what they did, or say what is not there.
import { expect, settled, test } from './fixtures';
import { PAGES } from './pages';

for (const [name, addressOf] of Object.entries(PAGES)) {
  test(`the address of the page ${name} can be opened by itself and again`, async ({ page, request }) => {
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

test('an address that there is not says so', async ({ page }) => {
  await page.goto('/no/such/page');
  await expect(page.getByRole('main')).toContainText(/no|not/i);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }).click();
  await expect(page).toHaveURL('/');
});

test('a run that there is not is named, and is no error of the page', async ({ page, faults }) => {
  faults.expect(/404/);
  await page.goto('/runs/000000000000');
  await expect(page.getByRole('main')).toContainText('000000000000');
});

test('back and forward go through the pages', async ({ page }) => {
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await page.goto('/');
  await pages.getByRole('link', { name: 'Trends' }).click();
  await expect(page).toHaveURL(/trends/);
  await pages.getByRole('link', { name: 'Compare' }).click();
  await expect(page).toHaveURL(/compare/);
  await page.goBack();
  await expect(page).toHaveURL(/trends/);
  await page.goForward();
  await expect(page).toHaveURL(/compare/);
});
