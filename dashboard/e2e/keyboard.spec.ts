// The pages without a mouse: Tab reaches all that can be used, and one sees where one is.
import type { Page } from '@playwright/test';
import { expect, settled, test } from './fixtures';
import { PAGES } from './pages';

/** More than any page has to press. */
const MAX_KEYS = 400;

/** What the page notes while Tab goes through it. */
interface Notes {
  /** The controls that the focus has not been on. */
  unreached: Set<Element>;
  /** Those that had the focus without being seen to. */
  unseen: Set<string>;
  isAtEnd: boolean;
}

/** Notes all that can be used and is seen, and crosses out where the focus comes. Returns how many these are. */
async function noteControls(page: Page): Promise<number> {
  return page.evaluate(() => {
    // Behind a dialog nothing can be used.
    const room = document.querySelector('dialog:modal') ?? document;
    const controls = room.querySelectorAll<HTMLElement>(
      'a[href], button:enabled, input:enabled, select:enabled, summary',
    );
    // Of a group that the arrow keys go through, one alone is reached by Tab.
    const seen = [...controls].filter(
      (control) => control.tabIndex >= 0 && control.checkVisibility({ visibilityProperty: true }),
    );
    const notes: Notes = { unreached: new Set(seen), unseen: new Set(), isAtEnd: false };
    Object.assign(window, { notes });
    document.addEventListener('focusin', ({ target }) => {
      if (!(target instanceof HTMLElement)) return;
      notes.unreached.delete(target);
      // A ring may be drawn around the whole row that a link spans, or the field that a bare input is in.
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

/** What is left of the notes. */
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
  test(`Tab reaches all of the page ${name}, and the focus is seen`, async ({ page, request }) => {
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
    expect(unseen, 'focused, but not seen to be').toEqual([]);
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

test('the palette opens by keys, finds an experiment, and closes', async ({ page }) => {
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

test('Enter takes what is typed in the palette at once, however fast it is typed', async ({ page }) => {
  await page.goto('/');
  await settled(page);
  const palette = page.getByRole('dialog', { name: 'Go to' });
  for (const [words, address] of [
    ['Trends', /\/trends$/],
    ['Compare', /\/compare$/],
    ['Runs', /\/$/],
    ['trends invoice', /\/trends\?experiment=invoice-extraction$/],
  ] as const) {
    await page.keyboard.press('ControlOrMeta+k');
    await expect(palette.getByRole('option', { name: /invoice-extraction/ }).first()).toBeVisible();
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(address);
    await expect(palette).toBeHidden();
  }
});
