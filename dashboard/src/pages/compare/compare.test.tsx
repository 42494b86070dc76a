import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { choose } from '../../test/choose';
import { compared, comparedItem, comparedRun, comparison, difference, output } from '../../test/comparison';
import { transcript, turn } from '../../test/conversation';
import { renderPage } from '../../test/render';
import { traffic } from '../../test/run';
import { runRow, runs } from '../../test/runs';
import { errorResponse, mockServer } from '../../test/server';
import { Component } from '.';

const at = '/compare?a=aaa&b=bbb';

const draw = (response: object, address = at) => {
  const requests = mockServer({ '/api/compare': response });
  return { requests, ...renderPage(Component, { at: address, path: '/compare' }) };
};

test('each evaluator has its change, CI and verdict', async () => {
  draw(compared());
  expect(await screen.findByRole('heading', { name: 'Change vs. run A (aaa, 2026-02-05)' })).toBeVisible();
  expect(screen.getByText('Regressed:').closest('p')).toHaveTextContent('Regressed: correctness');
  const table = screen.getByRole('table', { name: 'Scores vs. run A' });
  const row = within(table).getByRole('row', { name: /correctness/ });
  expect(row).toHaveTextContent('−0.200');
  expect(row).toHaveTextContent('−0.310 to −0.090');
  expect(row).toHaveTextContent('<0.001');
  expect(row).toHaveTextContent('Regressed12 items: 1 better, 8 worse, 3 equal');
  expect(within(row).getByRole('img', { name: '95% CI −0.310 to −0.090' })).toBeVisible();
});

test('latency, tokens, agent cost and errors are compared in a separate table', async () => {
  const latency = difference({ name: 'latency', quantity: 'latency', base: 120, other: 84, difference: -36 });
  draw(compared({ comparisons: [comparison({ amounts: [{ ...latency, verdict: 'better' }] })] }));
  const table = await screen.findByRole('table', {
    name: 'Latency, tokens, agent cost and errors vs. run A',
  });
  expect(within(table).getByRole('row', { name: /latency/ })).toHaveTextContent(/−36 ms.*Improved/);
});

test('problems with the comparison are listed', async () => {
  draw(
    compared({
      comparisons: [comparison({ notes: ['run A is partial: only some of its items were run'] })],
    }),
  );
  const notes = await screen.findByRole('list', { name: 'Comparison warnings' });
  expect(notes).toHaveTextContent('run A is partial');
});

test('diverged items are listed if the note does not name them all', async () => {
  const diverged = Array.from({ length: 6 }, (_, index) => ({
    key: `item-${index}`,
    message: index || null,
  }));
  const asked = { items: 1_310, same: 3, diverged };
  const few = { items: 12, same: 7, diverged: diverged.slice(0, 5) };
  draw(compared({ comparisons: [comparison({ asked }), comparison({ asked: few })] }));
  const list = await screen.findByRole('list', { name: 'Diverged items', hidden: true });
  expect(screen.getByText('1,307 diverged items')).toBeVisible();
  const lines = within(list).getAllByRole('listitem', { hidden: true });
  expect(lines.map((line) => line.textContent)).toEqual([
    'item-0 at the model, the tools or the settings',
    ...[1, 2, 3, 4, 5].map((number) => `item-${number} at message ${number}`),
    'and 1,301 more',
  ]);
});

test('regressions come first, and the tabs query the server', async () => {
  const { requests, user, router } = draw(compared());
  await user.click(await screen.findByRole('button', { name: 'Regressed 8' }));
  expect(router.state.location.search).toContain('only=regressed');
  await waitFor(() => expect(requests.at(-1)?.searchParams.get('only')).toBe('regressed'));
  expect(requests[0]?.searchParams.get('sort')).toBe('worst');
  expect(screen.getByRole('button', { name: 'Changed 9' })).toBeVisible();
});

test('the tabs count the items that match the search', async () => {
  draw(compared({ found: 4, changed: 3, regressed: 2, improved: 1 }), `${at}&search=paris`);
  for (const name of ['All 4', 'Changed 3', 'Regressed 2', 'Improved 1']) {
    expect(await screen.findByRole('button', { name })).toBeVisible();
  }
});

test('the largest gains come first among the improved items', async () => {
  const { requests, user, router } = draw(compared());
  await user.click(await screen.findByRole('button', { name: 'Improved 1' }));
  await waitFor(() => expect(requests.at(-1)?.searchParams.get('sort')).toBe('best'));
  await choose(user, 'Sort items', 'Largest drop first');
  expect(router.state.location.search).toContain('sort=worst');
});

test('a change of the runs resets the evaluator', async () => {
  const { user, router } = draw(compared(), `${at}&evaluator=correctness&search=x`);
  await user.click(await screen.findByRole('button', { name: 'Use run B as run A' }));
  expect(router.state.location.search).toBe('?a=bbb&b=aaa&search=x');
});

test('an unknown evaluator can be removed', async () => {
  const { user, router } = draw(
    errorResponse(400, 'run `bbb` has no evaluator `tone`'),
    `${at}&evaluator=tone`,
  );
  await user.click(await screen.findByRole('button', { name: 'Compare all evaluators' }));
  expect(router.state.location.search).toBe('?a=aaa&b=bbb');
});

test('an item with a new scoring error shows it', async () => {
  const item = comparedItem({
    outputs: [output(), output({ failedRuns: 1, scores: {} })],
    scoreChanges: [[{ evaluator: 'correctness', base: 1, other: null }]],
  });
  draw(compared({ items: [item] }));
  const row = (await screen.findByRole('rowheader', { name: /france/ })).closest('tr');
  expect(row).toHaveTextContent('Now has a scoring error');
  expect(row).toHaveTextContent('1.000 → no score');
});

test('the conversations of an item are beside each other', async () => {
  const said = (reply: string) => transcript({ turns: [turn({ reply })] });
  const outputs = [output({ transcript: said('Friday?') }), output({ transcript: said('Saturday?') })];
  const { user } = draw(compared({ items: [comparedItem({ outputs })] }), `${at}&item=france`);
  await user.click(await screen.findByText('Conversations'));
  expect(screen.getByRole('region', { name: 'Conversation of Run A' })).toHaveTextContent('Friday?');
  expect(screen.getByRole('region', { name: 'Conversation of Run B' })).toHaveTextContent('Saturday?');
});

test('a score without a counterpart is not comparable', async () => {
  const item = comparedItem({ scoreChanges: [[{ evaluator: 'correctness', base: null, other: 0.9 }]] });
  draw(compared({ items: [item] }));
  expect(await screen.findByLabelText('not comparable:')).toBeVisible();
});

test('an evaluator may have the name of an object property', async () => {
  const item = comparedItem({
    outputs: [
      output({ scores: { constructor: 0.5 } as never, evaluations: {} }),
      output({ scores: {}, evaluations: {} }),
    ],
    scoreChanges: [[]],
  });
  draw(compared({ items: [item] }), `${at}&item=france`);
  const scores = await screen.findByRole('table', { name: 'Evaluations' });
  expect(within(scores).getByRole('row', { name: /^constructor/ })).toHaveTextContent(
    'constructorA0.500Bno score',
  );
});

test('search, evaluator and order are read from the URL', async () => {
  const { requests } = draw(compared(), `${at}&search=paris&evaluator=correctness&sort=best&only=improved`);
  expect(await screen.findByRole('searchbox', { name: 'Search keys, inputs and outputs' })).toHaveValue(
    'paris',
  );
  expect(screen.getByRole('combobox', { name: 'Changes by evaluator' })).toHaveTextContent('correctness');
  const query = Object.fromEntries(requests[0]?.searchParams ?? []);
  expect(query).toMatchObject({ search: 'paris', evaluator: 'correctness', sort: 'best', only: 'improved' });
});

test('an item opens with both outputs, their scores and links to the runs', async () => {
  const { user, router } = draw(compared());
  const item = await screen.findByRole('button', { name: /france/ });
  expect(item).toHaveAttribute('aria-expanded', 'false');
  expect(screen.getByRole('rowheader', { name: /france/ }).closest('tr')).toHaveTextContent('1.000 → 0.000');
  await user.click(item);
  expect(router.state.location.search).toContain('item=france');
  expect(screen.getByText('Paris')).toBeVisible();
  expect(screen.getByText('Lyon')).toBeVisible();
  const scores = screen.getByRole('table', { name: 'Evaluations' });
  expect(within(scores).getByRole('row', { name: /^correctness/ })).toHaveTextContent(
    /1\.000.*0\.000.*−1\.000/,
  );
  expect(screen.getByRole('link', { name: 'Open in run A' })).toHaveAttribute(
    'href',
    '/runs/aaa?item=france',
  );
  expect(screen.getByRole('link', { name: 'Open in run B' })).toHaveAttribute(
    'href',
    '/runs/bbb?item=france',
  );
});

test('latency and cost of replayed runs and items are marked', async () => {
  const summary = { ...comparedRun().summary, estimatedCost: 0.02, traffic: traffic() };
  const recorded = { replayed: 3, live: 0, recordedAt: '2026-01-21T12:00:00.000Z', diverged: false };
  const item = comparedItem({ outputs: [output(), output({ traffic: recorded })] });
  draw(
    compared({ runs: [comparedRun(), comparedRun({ id: 'bbb', summary })], items: [item] }),
    `${at}&item=france`,
  );
  const [a, b] = within(await screen.findByRole('list', { name: 'Compared runs' })).getAllByRole('listitem');
  expect(a).not.toHaveTextContent('as recorded');
  for (const name of ['Mean latency', 'Agent cost'])
    expect(within(b as HTMLElement).getByText(name).parentElement).toHaveTextContent('10 of 12 as recorded');
  expect(screen.getByRole('rowheader', { name: /france/ }).closest('tr')).toHaveTextContent(
    '120 ms → as recorded: 120 ms',
  );
  const scores = screen.getByRole('table', { name: 'Evaluations' });
  expect(within(scores).getByRole('row', { name: /^Latency/ })).toHaveTextContent(
    'Latency120 ms 120 ms as recorded',
  );
});

test('an item that now fails shows the error', async () => {
  const failed = output({
    output: null,
    status: 'error',
    error: 'the model is gone',
    scores: {},
    evaluations: {},
    failedRuns: 1,
  });
  const item = comparedItem({ outputs: [output(), failed], scoreChanges: [[]] });
  draw(compared({ items: [item] }), `${at}&item=france`);
  expect(await screen.findByText('the model is gone')).toBeVisible();
  expect(screen.getByText('Now fails')).toBeVisible();
});

test('an item in only one run, or with a changed input, is marked', async () => {
  const gone = comparedItem({ key: 'gone', outputs: [output(), null], changes: [null], scoreChanges: [[]] });
  draw(compared({ items: [gone, comparedItem({ contentChanged: true })], matching: 2 }));
  const row = (await screen.findByRole('rowheader', { name: /gone/ })).closest('tr');
  expect(row).toHaveTextContent('Only in A');
  expect(row).toHaveTextContent('Not in this run');
  expect(screen.getByRole('rowheader', { name: /france/ })).toHaveTextContent('Input changed');
});

test('another run can become run A', async () => {
  const { user, router } = draw(compared());
  await user.click(await screen.findByRole('button', { name: 'Use run B as run A' }));
  expect(router.state.location.search).toBe('?a=bbb&b=aaa');
});

test('of three runs, each has its differences and can be removed', async () => {
  const three = compared({
    runs: ['aaa', 'bbb', 'ccc'].map((id) => comparedRun({ id })),
    comparisons: [
      comparison(),
      comparison({ evaluators: [difference({ verdict: 'better', difference: 0.05 })] }),
    ],
    items: [],
    matching: 0,
  });
  const { user, router } = draw(three, `${at}&c=ccc`);
  const table = await screen.findByRole('table', { name: 'Scores vs. run A' });
  expect(within(table).getAllByRole('rowheader')).toHaveLength(2);
  await user.click(screen.getByRole('button', { name: 'Remove run B' }));
  expect(router.state.location.search).toBe('?a=aaa&b=ccc');
});

test('an unknown run is reported, and others can be selected', async () => {
  draw(errorResponse(404, 'run `aaa` not found'));
  expect(await screen.findByRole('alert')).toHaveTextContent(/Run not found.*run `aaa` not found/);
  expect(screen.getByRole('link', { name: 'Select other runs' })).toHaveAttribute('href', '/compare');
});

test('without matching items, all can be shown', async () => {
  const { user, router } = draw(compared({ items: [], matching: 0 }), `${at}&only=improved&search=x`);
  await user.click(await screen.findByRole('button', { name: 'Show all items' }));
  expect(router.state.location.search).toBe('?a=aaa&b=bbb');
});

test('without runs in the URL, the latest two of each experiment are suggested', async () => {
  const rows = [runRow({ id: 'new' }), runRow({ id: 'old' })];
  mockServer({ '/api/runs': runs(rows, { known: 2 }) });
  renderPage(Component, { at: '/compare' });
  const link = await screen.findByRole('link', { name: 'Compare the latest two runs of answers' });
  expect(link).toHaveAttribute('href', '/compare?a=old&b=new');
});

test('runs are selected one after the other', async () => {
  mockServer({
    '/api/runs': runs([runRow({ id: 'new' }), runRow({ id: 'old', name: 'others' })], { known: 2 }),
  });
  const { user, router } = renderPage(Component, { at: '/compare', path: '/compare' });
  await user.click(await screen.findByRole('button', { name: 'Run A' }));
  await user.click(await screen.findByRole('button', { name: /others/ }));
  expect(screen.getByRole('button', { name: 'Run C (optional)' })).toBeDisabled();
  await user.click(screen.getByRole('button', { name: 'Run B' }));
  await user.click(await screen.findByRole('button', { name: /answers/ }));
  await user.click(screen.getByRole('button', { name: 'Compare' }));
  expect(router.state.location.search).toBe('?a=old&b=new');
});

test('without any runs, the command to create one is shown', async () => {
  mockServer({ '/api/runs': runs([]) });
  renderPage(Component, { at: '/compare' });
  expect(await screen.findByText('cargo cobalt run')).toBeVisible();
});
