// `npm run screenshots -- FOLDER`: each page with the store `demo`, light and dark, wide and narrow.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, request } from '@playwright/test';
import config from '../playwright.config';
import { settled } from './fixtures';
import { PAGES } from './pages';
import { serve } from './server';

const WINDOWS = { 1440: { width: 1440, height: 900 }, 390: { width: 390, height: 844 } };

/** `COBALT_BIN` overrides the command. */
export async function run([folder]: string[]): Promise<void> {
  if (!folder) throw new Error('expected a folder: npm run screenshots -- FOLDER');
  mkdirSync(folder, { recursive: true });
  const server = await serve('demo');
  const browser = await chromium.launch(config.use?.launchOptions);
  const api = await request.newContext({ baseURL: server.url });
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [width, viewport] of Object.entries(WINDOWS)) {
        const page = await browser.newPage({
          baseURL: server.url,
          viewport,
          colorScheme,
          reducedMotion: 'reduce',
        });
        for (const [name, addressOf] of Object.entries(PAGES)) {
          await page.goto(await addressOf(api));
          await settled(page);
          const path = join(folder, `${name}-${colorScheme}-${width}.png`);
          await page.screenshot({ path, fullPage: width === '390' });
          console.log(path);
        }
        await page.close();
      }
    }
  } finally {
    await api.dispose();
    await browser.close();
    await server.stop();
  }
}
