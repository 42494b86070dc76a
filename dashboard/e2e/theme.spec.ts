// Light and dark: as the system has it, or as somebody chose, from the first frame on.
import type { Page } from '@playwright/test';
import { DARK, expect, test } from './fixtures';

/** Notes the background of each frame until the page is there. */
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

test('a chosen theme is kept over a reload, and no frame is of the other', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Switch to the dark theme' }).click();
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const frames = await noteFrames(page);
  await page.reload();
  await expect(page.getByRole('button', { name: 'Switch to the light theme' })).toBeVisible();
  expect(await frames()).toEqual([dark]);
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test.describe('where the system is dark', () => {
  test.use(DARK);

  test('the page is dark from the first frame on', async ({ page }) => {
    const frames = await noteFrames(page);
    await page.goto('/');
    await expect(page.getByRole('button', { name: 'Switch to the light theme' })).toBeVisible();
    expect(await frames()).toHaveLength(1);
  });

  test('light can be chosen', async ({ page }) => {
    await page.goto('/');
    await page.getByRole('button', { name: 'Switch to the light theme' }).click();
    await page.reload();
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  });
});
