// The pages without a mouse: Tab reaches all that can be used, and one sees where one is.
import type { Page } from '@playwright/test';
import { expect, settled, test } from './fixtures';
import { PAGES } from './pages';

/** More than any page has to press. */
const MOST_KEYS = 400;

/** Notes all that can be used and is seen, to be crossed out as the focus reaches it. */
async function noteControls(page: Page): Promise<number> {
  return page.evaluate(() => {
    const controls = [
      ...document.querySelectorAll<HTMLElement>(
        'a[href], button:enabled, input:enabled, select:enabled, summary',
      ),
    ];
    // Of a group that the arrow keys go through, one alone is reached by Tab.
    const unreached = controls.filter(
      (control) =>
        control.tabIndex >= 0 &&
        control.checkVisibility({ visibilityProperty: true }) &&
        !control.closest('[inert]'),
    );
    Object.assign(window, { unreached: new Set(unreached) });
    return unreached.length;
  });
}

/** Crosses out where the focus is; tells whether it is on the page, and seen there. */
async function crossOut(page: Page) {
  return page.evaluate(() => {
    const focused = document.activeElement;
    if (!(focused instanceof HTMLElement) || focused === document.body) return { isAtEnd: true, unseen: '' };
    const unreached = (window as unknown as { unreached: Set<Element> }).unreached;
    unreached.delete(focused);
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(focused);
    const isSeen = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
    return { isAtEnd: false, unseen: isSeen ? '' : focused.outerHTML.slice(0, 200) };
  });
}

for (const [name, addressOf] of Object.entries(PAGES)) {
  test(`Tab reaches all of the page ${name}, and the focus is seen`, async ({ page, request }) => {
    await page.goto(await addressOf(request));
    await settled(page);
    expect(await noteControls(page)).toBeGreaterThan(3);
    const unseen = new Set<string>();
    for (let key = 0; key < MOST_KEYS; key += 1) {
      await page.keyboard.press('Tab');
      const focus = await crossOut(page);
      if (focus.unseen) unseen.add(focus.unseen);
      if (focus.isAtEnd) break;
    }
    const unreached = await page.evaluate(() => {
      const { unreached } = window as unknown as { unreached: Set<Element> };
      return [...unreached]
        .filter((element) => element.isConnected)
        .map((element) => element.outerHTML.slice(0, 200));
    });
    expect([...unseen], 'focused, but not seen to be').toEqual([]);
    expect(unreached, 'not reached by Tab').toEqual([]);
  });
}

test('the first thing that Tab reaches leads past what lies around the page', async ({ page }) => {
  await page.goto('/');
  await settled(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
});

test('the palette opens by keys, finds an experiment, and leads to another page', async ({ page }) => {
  await page.goto('/');
  await settled(page);
  await page.keyboard.press('ControlOrMeta+k');
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await expect(palette).toBeVisible();
  await page.keyboard.type('invoice');
  await expect(palette.getByRole('option', { name: /invoice-extraction/ }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(palette).toBeHidden();
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('Trends');
  await expect(palette.getByRole('option', { name: /Trends/ }).first()).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/trends/);
});
