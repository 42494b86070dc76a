// The theme: the system's or the chosen one, from the first frame.
import type { Page } from '@playwright/test';
import { DARK, expect, test } from './fixtures';

/** Records the background of each frame until the page is loaded. */
async function noteFrames(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { framesSeen: seen });
    const note = () => {
      if (document.body) seen.push(getComputedStyle(document.body).backgroundColor);
      if (seen.length < 60) requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
  });
  return () => page.evaluate(() => [...new Set((window as unknown as { framesSeen: string[] }).framesSeen)]);
}

test('a chosen theme survives a reload, without a frame of the other', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Switch to dark theme' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const frames = await noteFrames(page);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Switch to light theme' })).toBeVisible();
  expect(await frames()).toEqual([dark]);
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test.describe('with a dark system theme', () => {
  test.use(DARK);

  test('the page is dark from the first frame', async ({ page }) => {
    const frames = await noteFrames(page);
    await page.goto('/');
    await expect(page.getByRole('button', { name: 'Switch to light theme' })).toBeVisible();
    expect(await frames()).toHaveLength(1);
  });

  test('light can be chosen', async ({ page }) => {
    await page.goto('/');
    await page.getByRole('button', { name: 'Switch to light theme' }).click();
    await page.reload();
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  });
});
