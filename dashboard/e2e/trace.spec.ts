// An agent at work: the waterfall of its trace, Markdown, images and sources.
import { itemsOf, runOf } from './api';
import { axe, DARK, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { itemAddress, itemPage, pane } from './pages';
import { CHART, GONE } from './stores/agents';

test.use({ store: 'agents' });

const EXPERIMENT = 'research-agent';

test('the tool calls of an item and their times take two clicks from the table', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(`/runs/${id}`);
  await page.getByRole('table', { name: 'Items' }).getByRole('link', { name: 'river-ouse' }).click();
  await pane(page)
    .getByRole('tab', { name: /^Trace/ })
    .click();
  const spans = pane(page).getByRole('treegrid', { name: 'Spans' });
  const calls = spans.getByRole('row', { name: /Tool search/ });
  await expect(calls).toHaveCount(4);
  await expect(calls.first()).toBeInViewport();
  for (const call of await calls.all()) {
    await expect(call).toContainText(/starts after [\d.]+ (ms|s)\s*[\d.]+ (ms|s)/);
  }
  await axe(page);
});

test('bars are on one time axis, below each other as the spans were', async ({ page, request }) => {
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(`${itemAddress(id, 'river-ouse')}&tab=trace`);
  const rows = pane(page).getByRole('treegrid').locator('tbody tr');
  await expect(rows).toHaveCount(13);
  const bars = await rows.locator('div > span:first-child[style]').evaluateAll((all) =>
    all.map((bar) => {
      const { left, right } = bar.getBoundingClientRect();
      return { left, right };
    }),
  );
  const [agent, round, model, tool] = bars;
  if (!agent || !round || !model || !tool) throw new Error('the trace has no bars');
  for (const { left, right } of bars) {
    expect(left).toBeGreaterThanOrEqual(agent.left - 1);
    expect(right).toBeLessThanOrEqual(agent.right + 1);
  }
  expect(Math.abs(tool.left - model.right)).toBeLessThan(2);
  expect(Math.abs(round.right - tool.right)).toBeLessThan(2);
});

test('a click or Enter shows a span, which can be linked to', async ({ page, request }) => {
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(`${itemPage(id, 'river-ouse')}?tab=trace`);
  const spans = page.getByRole('treegrid', { name: 'Spans' });
  await spans.getByRole('row', { name: /Failed/ }).click();
  const search = page.getByRole('region', { name: 'search', exact: true });
  await expect(search).toContainText('503 Service Unavailable');
  await expect(search).toContainText('"query": "York"');
  await spans.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  const chat = page.getByRole('region', { name: 'chat gpt-5.4-mini' });
  await expect(chat).toContainText('first token after');
  await page.reload();
  await expect(chat).toContainText('first token after');
  await axe(page);
});

test('a long trace renders only its visible rows, and those of one kind', async ({ page, request }) => {
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(`${itemAddress(id, 'thorough')}&tab=trace`);
  const spans = pane(page).getByRole('treegrid', { name: 'Spans' });
  await expect(spans).toHaveAttribute('aria-rowcount', '1202');
  expect(await spans.getByRole('row').count()).toBeLessThan(80);
  await spans.focus();
  await page.keyboard.press('End');
  await expect(spans.getByRole('row', { name: /Failed/ })).toBeInViewport();
  await pane(page).getByRole('button', { name: 'Failed 1' }).click();
  await expect(spans.getByRole('row')).toHaveCount(2);
  await pane(page).getByRole('button', { name: 'All 1,201' }).click();
  await pane(page).getByRole('button', { name: 'Collapse all' }).click();
  await expect(spans.getByRole('row')).toHaveCount(2);
});

test('images that an item names are shown, and a file that is gone is reported', async ({
  page,
  request,
  faults,
}) => {
  faults.expect(/404/);
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(itemAddress(id, 'chart'));
  const media = pane(page).getByRole('region', { name: 'Images and audio' });
  for (const name of [CHART, 'metadata.legend']) {
    const image = media.getByRole('img', { name });
    await image.scrollIntoViewIfNeeded();
    await expect(image).toHaveJSProperty('naturalWidth', 48);
  }
  await expect(media.getByRole('figure', { name: `input.older: ${GONE}` })).toContainText(/gone\.png/);
  await expect(media.getByRole('img')).toHaveCount(2);
});

test('close texts are shown as their difference, others beside each other', async ({ page, request }) => {
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(itemAddress(id, 'river-ouse'));
  const outputs = pane(page).getByRole('region', { name: 'Expected and output' });
  await expect(outputs.locator('del').last()).toHaveText('miles');
  await expect(outputs.locator('ins').last()).toHaveText('km');
  await outputs.getByRole('button', { name: 'Side by side' }).click();
  await expect(outputs.locator('del')).toHaveCount(0);
  await expect(outputs.getByRole('heading', { name: 'Expected', exact: true })).toBeVisible();
  await page.goto(itemAddress(id, 'rainfall-york'));
  await expect(outputs.getByRole('heading', { name: 'Expected', exact: true })).toBeVisible();
  await expect(outputs.getByRole('button', { name: 'Difference' })).toHaveCount(0);
});

test('Markdown is rendered, its images from elsewhere are only links', async ({ page, request }) => {
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(itemAddress(id, 'rainfall-york'));
  const output = pane(page).getByRole('region', { name: 'Expected and output' });
  await expect(output.getByRole('cell', { name: 'October' })).toBeVisible();
  const link = output.getByRole('link', { name: 'the Met Office' });
  await expect(link).toHaveAttribute('rel', /noopener noreferrer/);
  await expect(output).toContainText('(https://www.metoffice.gov.uk/york)');
  await expect(output.getByRole('link', { name: 'https://maps.example/york.png' })).toBeVisible();
  await expect(output.getByRole('img')).toHaveCount(0);
});

test('the source of an item can be copied', async ({ page, context, request }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(itemAddress(id, 'river-ouse'));
  await pane(page).getByRole('button', { name: 'Copy the path of the item' }).click();
  await expect(pane(page).getByText('Copied').last()).toBeAttached();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('datasets/york.jsonl:2');
});

for (const [name, options] of Object.entries({ light: {}, dark: DARK, narrow: NARROW })) {
  test.describe(`in a ${name} window`, () => {
    test.use(options);
    test('no tab has a violation, and none is wider than the window', async ({ page, request, faults }) => {
      faults.expect(/404/);
      const { id } = await runOf(request, EXPERIMENT);
      for (const { key } of await itemsOf(request, id)) {
        for (const tab of ['result', 'trace&span=2', 'scores']) {
          await page.goto(`${itemAddress(id, key)}&tab=${tab}`);
          await settled(page);
          await expect(pane(page).getByRole('tabpanel')).toBeVisible();
          await noSidewaysScroll(page);
          if (key === 'river-ouse' || key === 'rainfall-york') await axe(page);
        }
      }
    });
  });
}

test('names keep their spaces where they may be cut', async ({ faults, page, request }) => {
  // One of the item's images is gone.
  faults.expect(/404/);
  const { id } = await runOf(request, EXPERIMENT);
  await page.goto(itemPage(id, 'chart'));
  const crumb = page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText('Item chart');
  await expect(crumb).toBeVisible();
  const parts = crumb.locator('xpath=..').locator('[aria-hidden]');
  expect((await parts.allInnerTexts()).join('')).toBe('Item chart');
});
