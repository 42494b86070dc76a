// An item beside the table of its run, and on its own page: result, scores, files and raw.
import { itemsOf, runOf } from './api';
import { axe, DARK, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { itemAddress, itemPage, pane } from './pages';

test('an item opens without taking the focus, and j and k need none', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  await page.goto(`/runs/${id}`);
  await page.getByRole('table', { name: 'Items' }).getByRole('link').first().focus();
  await page.keyboard.press('Enter');
  await expect(pane(page).getByText('1 of 96')).toBeVisible();
  await expect(page.getByRole('table', { name: 'Items' }).getByRole('link').first()).toBeFocused();
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('j');
  await expect(pane(page).getByText('2 of 96')).toBeVisible();
  await page.keyboard.press('k');
  await expect(pane(page).getByText('1 of 96')).toBeVisible();
  await page.keyboard.press(']');
  await expect(page).toHaveURL(/tab=/);
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/item=/);
});

test('the wheel over the head of an item scrolls nothing away', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent');
  const [item] = await itemsOf(request, id);
  await page.goto(itemAddress(id, item?.key ?? ''));
  const heading = pane(page).getByRole('heading', { level: 2 });
  const before = await heading.boundingBox();
  await heading.hover();
  for (const distance of [400, 4000, -4000]) {
    await page.mouse.wheel(0, distance);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await heading.boundingBox()).toEqual(before);
  }
});

test('an item has a page of its own, with the way back to the run and to the pane', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, 'support-agent');
  const [first, second] = await itemsOf(request, id, 'sort=latency&order=desc');
  await page.goto(`${itemAddress(id, first?.key ?? '')}&sort=latency&order=desc&tab=scores`);
  await pane(page).getByRole('link', { name: 'Open as page' }).click();
  await expect(page).toHaveURL(`/runs/${id}/items/${first?.key}?sort=latency&order=desc&tab=scores`);
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await page.getByRole('button', { name: 'Next item' }).click();
  await expect(page.getByRole('heading', { level: 1, name: second?.name ?? '?', exact: true })).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Scores' })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('link', { name: 'Show beside the table' }).click();
  await expect(pane(page).getByText('2 of 96')).toBeVisible();
  await page.goBack();
  await page.getByRole('link', { name: 'Run support-agent' }).click();
  await expect(page).toHaveURL(`/runs/${id}?sort=latency&order=desc`);
});

test('the evaluators that failed are named with their reasons above the tabs', async ({ page, request }) => {
  const { id } = await runOf(request, 'support-agent', 'verdict=failed');
  const [item] = await itemsOf(request, id, 'sort=score:correctness');
  await page.goto(itemAddress(id, item?.key ?? ''));
  const failures = pane(page).getByRole('list', { name: 'Why it failed' });
  await expect(failures).toContainText(/correctness.*< 0\.5.*(contradicts|leaves out)/);
  await pane(page).getByRole('tab', { name: 'Raw' }).click();
  await expect(failures).toBeVisible();
});

test('each trial of an item can be selected and linked to', async ({ page, request }) => {
  const { id } = await runOf(request, 'invoice-extraction');
  const [item] = await itemsOf(request, id, 'sort=score:fields');
  await page.goto(`${itemAddress(id, item?.key ?? '')}&tab=scores`);
  const spread = pane(page).getByRole('table', { name: 'Scores over all trials' });
  await expect(spread.getByRole('row', { name: /^fields/ })).toContainText(
    item?.scores.fields?.toFixed(3) ?? '?',
  );
  await pane(page)
    .getByRole('button', { name: /^(failed |timed out )?Trial 3/ })
    .click();
  await expect(page).toHaveURL(/execution=3/);
  await page.reload();
  await expect(pane(page).getByRole('button', { name: /Trial 3/ })).toHaveAttribute('aria-pressed', 'true');
});

test('tool calls that the agent reported are listed with arguments and results', async ({
  page,
  request,
}) => {
  const { id } = await runOf(request, 'support-agent');
  const [item] = await itemsOf(request, id, 'search=return-window-1&state=passed');
  await page.goto(`${itemAddress(id, item?.key ?? '')}&tab=trace`);
  const calls = pane(page).getByRole('region', { name: 'Tool calls' }).getByRole('listitem');
  await expect(calls.first()).toContainText(/lookup_order.*Arguments.*order.*Result/s);
});

test('an item with an error shows the message', async ({ page, request }) => {
  const { id } = await runOf(request, 'incident-summaries', 'verdict=error');
  const [item] = await itemsOf(request, id, 'state=error');
  await page.goto(itemAddress(id, item?.key ?? ''));
  await expect(pane(page).getByRole('list', { name: 'Why it failed' })).toContainText(item?.error ?? '?');
  await expect(pane(page).getByRole('tabpanel').getByText('The agent failed')).toBeVisible();
});

test('the output, the link and the whole item can be copied', async ({ page, context, request }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { id } = await runOf(request, 'support-agent');
  const [item] = await itemsOf(request, id, 'state=passed');
  await page.goto(itemAddress(id, item?.key ?? ''));
  const copied = async (name: string) => {
    await pane(page).getByRole('button', { name, exact: true }).click();
    await expect(pane(page).getByText('Copied').last()).toBeAttached();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(await copied('Copy a link to this item')).toBe(page.url());
  expect(await copied('Copy the output')).toContain(item?.output?.slice(0, 40) ?? '?');
  await pane(page).getByRole('tab', { name: 'Raw' }).click();
  expect(JSON.parse(await copied('Copy the item as JSON'))).toMatchObject({ key: item?.key });
});

for (const [name, options] of Object.entries({ light: {}, dark: DARK, narrow: NARROW })) {
  test.describe(`in a ${name} window`, () => {
    test.use(options);
    test('no tab of an item has a violation, and none is wider than the window', async ({
      page,
      request,
    }) => {
      const { id } = await runOf(request, 'support-agent');
      const [item] = await itemsOf(request, id, 'sort=score:correctness');
      await page.goto(itemPage(id, item?.key ?? ''));
      await settled(page);
      const tabs = page.getByRole('tab');
      for (let place = 0; place < (await tabs.count()); place += 1) {
        await tabs.nth(place).click();
        await settled(page);
        await noSidewaysScroll(page);
        await axe(page);
      }
    });
  });
}
