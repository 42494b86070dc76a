// Keyboard use of the pages: Tab reaches every control, and the focus is visible.
import type { Page } from '@playwright/test';
import { expect, settled, test } from './fixtures';
import { PAGES } from './pages';

/** More key presses than any page needs. */
const MAX_KEYS = 400;

/** Recorded by the page while Tab moves the focus. */
interface Notes {
  /** Controls that were not focused. */
  unreached: Set<Element>;
  /** Controls that had no visible focus indicator. */
  unseen: Set<string>;
  isAtEnd: boolean;
}

/** Records all visible controls and removes those that receive focus. Returns their number. */
async function noteControls(page: Page): Promise<number> {
  return page.evaluate(() => {
    // Controls behind a dialog are inert.
    const root = document.querySelector('dialog:modal') ?? document;
    const controls = root.querySelectorAll<HTMLElement>(
      'a[href], button:enabled, input:enabled, select:enabled, summary',
    );
    // In a group with arrow key navigation, Tab reaches only one control.
    const seen = [...controls].filter(
      (control) => control.tabIndex >= 0 && control.checkVisibility({ visibilityProperty: true }),
    );
    const notes: Notes = { unreached: new Set(seen), unseen: new Set(), isAtEnd: false };
    Object.assign(window, { notes });
    document.addEventListener('focusin', ({ target }) => {
      if (!(target instanceof HTMLElement)) return;
      notes.unreached.delete(target);
      // The focus ring may be on the row that a link covers, or on the field around an input.
      const rings = [target, target.parentElement ?? target].map((element) => getComputedStyle(element));
      const around = [...rings, getComputedStyle(target, '::after')];
      const hasOutline = around.some(
        (style) => style.outlineStyle !== 'none' && style.outlineWidth !== '0px',
      );
      const isSeen = hasOutline || rings[0]?.boxShadow !== 'none';
      if (!isSeen) notes.unseen.add(target.outerHTML.slice(0, 200));
    });
    document.addEventListener('focusout', ({ relatedTarget }) => {
      notes.isAtEnd = relatedTarget === null;
    });
    return seen.length;
  });
}

/** The recorded faults. */
async function readNotes(page: Page) {
  return page.evaluate(() => {
    const { unreached, unseen, isAtEnd } = (window as unknown as { notes: Notes }).notes;
    const left = [...unreached].filter((element) => element.isConnected);
    return {
      unreached: left.map((element) => element.outerHTML.slice(0, 200)),
      unseen: [...unseen],
      isAtEnd,
    };
  });
}

for (const [name, addressOf] of Object.entries(PAGES)) {
  test(`Tab reaches every control of the page ${name}, and the focus is visible`, async ({
    page,
    request,
  }) => {
    test.slow();
    await page.goto(await addressOf(request));
    await settled(page);
    expect(await noteControls(page)).toBeGreaterThan(3);
    for (let keys = 1; keys <= MAX_KEYS; keys += 1) {
      await page.keyboard.press('Tab');
      const { unreached, isAtEnd } =
        keys % 20 === 0 ? await readNotes(page) : { unreached: [''], isAtEnd: false };
      if (unreached.length === 0 || isAtEnd) break;
    }
    const { unreached, unseen } = await readNotes(page);
    expect(unseen, 'no visible focus').toEqual([]);
    expect(unreached, 'not reached by Tab').toEqual([]);
  });
}

test('the first Tab stop skips to the content', async ({ page }) => {
  await page.goto('/');
  await settled(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
});

test('the palette opens by keyboard, finds an experiment, and closes', async ({ page }) => {
  await page.goto('/');
  await settled(page);
  await page.keyboard.press('ControlOrMeta+k');
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await expect(palette).toBeVisible();
  await page.keyboard.type('invoice');
  await expect(palette.getByRole('option', { name: /invoice-extraction/ }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(palette).toBeHidden();
});

test('Enter in the palette selects the current match, however fast the query is typed', async ({ page }) => {
  await page.goto('/');
  await settled(page);
  const palette = page.getByRole('dialog', { name: 'Go to' });
  for (const [words, address] of [
    ['All runs', /\/\?view=runs$/],
    ['Experiments', /\/$/],
    ['trends invoice', /\/experiments\/invoice-extraction\?tab=trends$/],
  ] as const) {
    await page.keyboard.press('ControlOrMeta+k');
    await expect(palette.getByRole('option', { name: /invoice-extraction/ }).first()).toBeVisible();
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(address);
    await expect(palette).toBeHidden();
  }
});

test('the items of a run are read by keyboard without a first click', async ({ page, request }) => {
  const run = PAGES.run;
  if (!run) throw new Error('no page of a run');
  await page.goto(await run(request));
  await settled(page);
  const links = page.getByRole('table', { name: 'Items' }).locator('tr[data-item] a');
  await page.keyboard.press('j');
  await expect(links.first()).toBeFocused();
  await page.keyboard.press('j');
  await expect(links.nth(1)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/item=/);
  // The pane knows the neighbours once it has loaded.
  await expect(page.getByText(/^2 of \d+/)).toBeVisible();
  await page.keyboard.press('j');
  await expect(page.getByText(/^3 of \d+/)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/item=/);
  await expect(links.nth(2)).toBeFocused();
});
