// Conversations: beside the table, with several trials, and those of two runs beside each other.
import type { APIRequestContext, Page } from '@playwright/test';
import type { Runs } from '../src/api/types';
import { axe, DARK, expect, NARROW, noSidewaysScroll, settled, test } from './fixtures';
import { itemAddress, pane } from './pages';

test.use({ store: 'conversations' });

async function runsOf(request: APIRequestContext) {
  const { runs } = (await (await request.get('/api/runs?sort=timestamp')).json()) as Runs;
  const [newest, older] = runs;
  if (!newest || !older) throw new Error('the store has no two runs');
  return { newest, older };
}

const conversationOf = (page: Page) => pane(page).getByRole('region', { name: 'Conversation' });

/** The tab with the conversation of an item. */
const conversationAddress = (run: string, key: string) => `${itemAddress(run, key)}&tab=conversation`;

test('a script is shown turn by turn, with what was expected and what was missed', async ({
  page,
  request,
}) => {
  const { newest } = await runsOf(request);
  await page.goto(conversationAddress(newest.id, 'scripted'));
  const conversation = conversationOf(page);
  const turns = conversation.getByRole('list', { name: 'Turns' });
  const last = turns.getByRole('listitem', { name: 'Turn 3' });
  await expect(last).toContainText('Missedcontains "reference"');
  await expect(last).toContainText('Metcalls book');
  const call = last.getByRole('list', { name: 'Tool calls' }).getByRole('button', { name: 'book' });
  await call.click();
  await expect(last.getByRole('list', { name: 'Tool calls' })).toContainText(
    /book.* ms.*Arguments.*York.*Result/s,
  );
  const rule = last.getByText('Rule 30 of the house');
  await expect(rule).not.toBeInViewport();
  await last.getByRole('button', { name: /^Show all/ }).click();
  await expect(last.getByRole('button', { name: 'Show less' })).toBeVisible();
  await page.getByRole('button', { name: /Trial 2/ }).click();
  await expect(conversationOf(page)).toContainText('Turn limit reached');
  await expect(conversationOf(page).getByText('Missed')).toHaveCount(0);
  await axe(page);
});

test('the mistakes of a simulated user are its own, and its cost is named apart', async ({
  page,
  request,
}) => {
  const { newest } = await runsOf(request);
  await page.goto(conversationAddress(newest.id, 'simulated'));
  const conversation = conversationOf(page);
  const mistakes = conversation.getByRole('region', { name: 'Mistakes of the simulated user' });
  await expect(mistakes).toContainText('1 mistake of the simulated user, not of the agent');
  await expect(conversation.getByText('User’s mistake: told the answer')).toBeVisible();
  await expect(conversation).toContainText(/Goal met.*Simulated user.*User cost \$/);
  await page.keyboard.press('Escape');
  await expect(page.getByText('User cost').first()).toBeVisible();
});

test('the turn in which the agent failed shows why', async ({ page, request }) => {
  const { newest } = await runsOf(request);
  await page.goto(`${conversationAddress(newest.id, 'change')}&execution=2`);
  const failed = conversationOf(page).getByRole('listitem', { name: 'Turn 2' });
  await expect(failed).toContainText('The agent failed in this turn');
  await expect(conversationOf(page)).toContainText('the judge answered 429 Too Many Requests');
});

test('the expectations of turns that were not played are shown after the turns', async ({
  page,
  request,
}) => {
  const { newest } = await runsOf(request);
  await page.goto(conversationAddress(newest.id, 'unplayed'));
  const unplayed = conversationOf(page).getByRole('list', {
    name: 'Expectations of turns that were not played',
  });
  await expect(unplayed.getByRole('listitem')).toHaveText([
    'Missedturn 3, which was not played: contains "reference"',
    'Missedturn 3, which was not played: calls book',
  ]);
  await page.getByRole('button', { name: /Trial 2/ }).click();
  await expect(conversationOf(page)).toContainText('End of the script');
  await expect(unplayed).toHaveCount(0);
});

test('the changes of a workspace are shown with their patch, and the faults of the trial', async ({
  page,
  request,
}) => {
  const { newest } = await runsOf(request);
  await page.goto(`${itemAddress(newest.id, 'workspace')}&tab=result`);
  await expect(pane(page).getByText('search_rooms#1: timeout')).toBeVisible();
  await pane(page)
    .getByRole('tab', { name: /^Files/ })
    .click();
  const workspace = pane(page).getByRole('region', { name: 'Workspace' });
  await expect(workspace.getByRole('row')).toHaveText([
    'ChangeFileLines',
    'addedbookings/YK-1204.json+4 −0',
    'changedbookings/calendar.csv+1 −1',
    'removedbookings/draft.txt+0 −2',
    'addedvouchers/YK-1204.pngbinary, 2,048 bytes',
  ]);
  await expect(workspace).toContainText('and 1 more file');
  const patch = workspace.getByRole('region', { name: 'Patch' });
  await expect(patch).toContainText('-12,Friday,free');
  await expect(patch).toContainText('+12,Friday,booked');
  await axe(page);
  await page.getByRole('button', { name: /Trial 2/ }).click();
  await expect(workspace).toContainText('No file changed');
});

test('a long conversation shows its first turns, and the others on demand', async ({ page, request }) => {
  const { newest } = await runsOf(request);
  await page.goto(conversationAddress(newest.id, 'endless'));
  await expect(conversationOf(page).getByRole('listitem', { name: /^Turn/ })).toHaveCount(50);
  await conversationOf(page).getByRole('button', { name: 'Show all 70 turns' }).click();
  await expect(conversationOf(page).getByRole('listitem', { name: /^Turn/ })).toHaveCount(70);
});

test('the conversations of two runs are beside each other', async ({ page, request }) => {
  const { newest, older } = await runsOf(request);
  await page.goto(`/runs/${newest.id}?compare=${older.id}&item=scripted`);
  await page.getByText('Conversations', { exact: true }).click();
  const turnsOf = (name: string) =>
    page.getByRole('region', { name: `Conversation of ${name}` }).getByRole('listitem', { name: /^Turn/ });
  await expect(turnsOf('reference')).toHaveCount(2);
  await expect(turnsOf('this run')).toHaveCount(3);
  await axe(page);
});

for (const [name, options] of Object.entries({ light: {}, dark: DARK, narrow: NARROW })) {
  test.describe(`in a ${name} window`, () => {
    test.use(options);
    for (const key of ['scripted', 'simulated', 'change', 'unplayed', 'workspace']) {
      test(`the item ${key} has no violation, and is as narrow as the window`, async ({ page, request }) => {
        const { newest } = await runsOf(request);
        await page.goto(conversationAddress(newest.id, key));
        await settled(page);
        await expect(conversationOf(page)).toBeVisible();
        await noSidewaysScroll(page);
        await axe(page);
      });
    }
  });
}
