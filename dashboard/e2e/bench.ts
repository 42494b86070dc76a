// `npm run bench`: how fast the page of a large run is, as medians. Set COBALT_BIN to a release build of `cargo cobalt`.
import { type Browser, chromium, type Page, request } from '@playwright/test';
import config from '../playwright.config';
import type { Runs } from '../src/api/types';
import { type Server, serve } from './server';

const STORES = { large: '10,000 items', huge: '50,000 items' } as const;
const REPEATS = 5;
const SCROLL_MS = 3000;
/** Pixels per wheel event while scrolling. */
const WHEEL = 400;

type Figures = Record<string, string>;

export async function run(): Promise<void> {
  const browser = await chromium.launch(config.use?.launchOptions);
  const table: Record<string, Figures> = {};
  try {
    for (const [store, title] of Object.entries(STORES) as [keyof typeof STORES, string][]) {
      const server = await serve(store);
      try {
        table[title] = await measure(browser, server);
      } finally {
        await server.stop();
      }
    }
  } finally {
    await browser.close();
  }
  console.table(table);
}

async function measure(browser: Browser, server: Server): Promise<Figures> {
  const api = await request.newContext({ baseURL: server.url });
  const { runs } = (await (await api.get('/api/runs?limit=1')).json()) as Runs;
  await api.dispose();
  const address = `${server.url}/runs/${runs[0]?.id}`;
  const first = await visit(browser, address);
  const readable = [first];
  for (let repeat = 1; repeat < REPEATS; repeat += 1) readable.push(await visit(browser, address));
  const page = await open(browser, address);
  const idle = await framesPerSecond(page, async () => page.waitForTimeout(SCROLL_MS));
  const rows = page.getByRole('table', { name: 'Items' });
  const box = await rows.boundingBox();
  if (!box) throw new Error('the table of items is not shown');
  await page.mouse.move(box.x + 200, box.y + 200);
  const scrolling = await framesPerSecond(page, async () => {
    const end = Date.now() + SCROLL_MS;
    while (Date.now() < end) await page.mouse.wheel(0, WHEEL);
  });
  const heap = await heapMebibytes(page);
  const sorting = await sort(page);
  const typing = await typeSearch(page);
  await page.context().close();
  return {
    'first visit, items readable (ms)': first.toFixed(0),
    'items readable (ms)': median(readable).toFixed(0),
    'typing: key to paint (ms)': median(typing.paint).toFixed(0),
    'typing: key to result (ms)': median(typing.result).toFixed(0),
    'sorting (ms)': median(sorting).toFixed(0),
    'idle (fps)': idle.toFixed(0),
    'scrolling (fps)': scrolling.toFixed(0),
    'heap (MiB)': heap.toFixed(1),
  };
}

async function open(browser: Browser, address: string): Promise<Page> {
  const page = await browser.newPage({ viewport: config.use?.viewport ?? null });
  await page.goto(address);
  await page.locator(FIRST_ROW).waitFor();
  return page;
}

const FIRST_ROW = 'table tbody tr[aria-rowindex="2"] a';

/** Milliseconds from the start of the navigation until the first item is painted, in a new context without a cache. */
async function visit(browser: Browser, address: string): Promise<number> {
  const page = await browser.newPage({ viewport: config.use?.viewport ?? null });
  await page.addInitScript((selector) => {
    const look = () => {
      if (document.querySelector(selector)) Reflect.set(window, 'readableAt', performance.now());
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, FIRST_ROW);
  await page.goto(address);
  await page.waitForFunction(() => Reflect.has(window, 'readableAt'));
  const at = await page.evaluate(() => Reflect.get(window, 'readableAt') as number);
  await page.context().close();
  return at;
}

/** Sorts by a score again and again; the milliseconds from the click until the sorted items are painted. */
async function sort(page: Page): Promise<number[]> {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS * 2; repeat += 1) {
    times.push(
      await page.evaluate(async () => {
        const button = [...document.querySelectorAll<HTMLElement>('table thead button')].find(
          ({ textContent }) => textContent?.includes('correctness'),
        );
        const head = button?.closest('th');
        const order = () => head?.getAttribute('aria-sort') ?? 'none';
        const before = order();
        const start = performance.now();
        button?.click();
        await new Promise<void>((resolve) => {
          const look = () => {
            const isBusy = document.querySelector('table[aria-busy=true]') !== null;
            if (order() !== before && !isBusy) setTimeout(resolve);
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        });
        return performance.now() - start;
      }),
    );
  }
  return times;
}

/** Types a search; the milliseconds until each character is painted, and until its result is. */
async function typeSearch(page: Page): Promise<{ paint: number[]; result: number[] }> {
  const search = page.getByRole('searchbox').first();
  await search.focus();
  await page.evaluate(() => {
    const paint: number[] = [];
    Reflect.set(window, 'paints', paint);
    document.addEventListener(
      'keydown',
      () => {
        const start = performance.now();
        requestAnimationFrame(() => setTimeout(() => paint.push(performance.now() - start)));
      },
      { capture: true },
    );
  });
  const result: number[] = [];
  for (const letter of 'item-0777') {
    const start = Date.now();
    const answer = page.waitForResponse((response) => response.url().includes('/items?'));
    await page.keyboard.type(letter);
    await answer;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    result.push(Date.now() - start);
  }
  const paint = await page.evaluate(() => Reflect.get(window, 'paints') as number[]);
  return { paint, result };
}

async function framesPerSecond(page: Page, during: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const frames = { count: 0, running: true, start: performance.now() };
    Reflect.set(window, 'frameCount', frames);
    const count = () => {
      frames.count += 1;
      if (frames.running) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  await during();
  return page.evaluate(() => {
    const frames = Reflect.get(window, 'frameCount') as { count: number; running: boolean; start: number };
    frames.running = false;
    return (frames.count * 1000) / (performance.now() - frames.start);
  });
}

async function heapMebibytes(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return usedSize / 2 ** 20;
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
