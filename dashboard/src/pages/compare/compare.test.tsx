import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { compared, comparedItem, comparedRun, comparison, difference, output } from '../../test/comparison';
import { renderPage } from '../../test/render';
import { runRow, runs } from '../../test/runs';
import { errorResponse, mockServer } from '../../test/server';
import { Component } from '.';

const at = '/compare?a=aaa&b=bbb';

const draw = (answer: object, address = at) => {
  const asked = mockServer({ '/api/compare': answer });
  return { asked, ...renderPage(Component, { at: address, path: '/compare' }) };
};

test('each evaluator has its change, its interval and its verdict', async () => {
  draw(compared());
  const table = await screen.findByRole('table', { name: 'Scores against the baseline' });
  const row = within(table).getByRole('row', { name: /correctness/ });
  expect(row).toHaveTextContent('−0.200');
  expect(row).toHaveTextContent('−0.310 to −0.090');
  expect(row).toHaveTextContent('<0.001');
  expect(row).toHaveTextContent('worse12 items: 1 better, 8 worse, 3 equal');
  expect(within(row).getByRole('img', { name: '95 % interval −0.310 to −0.090' })).toBeVisible();
});

test('latency, tokens and cost are compared in a table of their own', async () => {
  const latency = difference({ name: 'latency', quantity: 'latency', base: 120, other: 84, difference: -36 });
  draw(compared({ comparisons: [comparison({ amounts: [{ ...latency, verdict: 'better' }] })] }));
  const table = await screen.findByRole('table', {
    name: 'Latency, tokens, cost and errors against the baseline',
  });
  expect(within(table).getByRole('row', { name: /latency/ })).toHaveTextContent(/−36 ms.*better/);
});

test('what makes runs hard to compare is said', async () => {
  draw(
    compared({
      comparisons: [comparison({ notes: ['the base is partial: only some of its items were run'] })],
    }),
  );
  const notes = await screen.findByRole('list', { name: 'What makes these runs hard to compare' });
  expect(notes).toHaveTextContent('the base is partial');
});

test('items that became worse come first, and the tabs ask the server', async () => {
  const { asked, user, router } = draw(compared());
  await user.click(await screen.findByRole('button', { name: 'Regressed 8' }));
  expect(router.state.location.search).toContain('only=regressed');
  await waitFor(() => expect(asked.at(-1)?.searchParams.get('only')).toBe('regressed'));
  expect(asked[0]?.searchParams.get('sort')).toBe('worst');
  expect(screen.getByRole('button', { name: 'Changed 9' })).toBeVisible();
});

test('the tabs count what the search finds', async () => {
  draw(compared({ found: 4, changed: 3, regressed: 2, improved: 1 }), `${at}&search=paris`);
  for (const name of ['All 4', 'Changed 3', 'Regressed 2', 'Improved 1']) {
    expect(await screen.findByRole('button', { name })).toBeVisible();
  }
});

test('the largest gains come first among the improved items', async () => {
  const { asked, user, router } = draw(compared());
  await user.click(await screen.findByRole('button', { name: 'Improved 1' }));
  await waitFor(() => expect(asked.at(-1)?.searchParams.get('sort')).toBe('best'));
  const order = screen.getByRole('combobox', { name: 'Order of the items' });
  await user.selectOptions(order, 'Largest drop first');
  expect(router.state.location.search).toContain('sort=worst');
});

test('other runs may have other evaluators', async () => {
  const { user, router } = draw(compared(), `${at}&evaluator=correctness&search=x`);
  await user.click(await screen.findByRole('button', { name: 'Make run B the baseline' }));
  expect(router.state.location.search).toBe('?a=bbb&b=aaa&search=x');
});

test('an evaluator that no run has can be left', async () => {
  const { user, router } = draw(
    errorResponse(400, 'run `bbb` has no evaluator `tone`'),
    `${at}&evaluator=tone`,
  );
  await user.click(await screen.findByRole('button', { name: 'Compare all evaluators' }));
  expect(router.state.location.search).toBe('?a=aaa&b=bbb');
});

test('an item in which an evaluator came to fail says so', async () => {
  const item = comparedItem({
    outputs: [output(), output({ failedRuns: 1, scores: {} })],
    scoreChanges: [[{ evaluator: 'correctness', base: 1, other: null }]],
  });
  draw(compared({ items: [item] }));
  const row = (await screen.findByRole('rowheader', { name: /france/ })).closest('tr');
  expect(row).toHaveTextContent('an evaluator fails now');
  expect(row).toHaveTextContent('1.000 → no score');
});

test('a score that has nothing to be held against is neither better nor worse', async () => {
  const item = comparedItem({ scoreChanges: [[{ evaluator: 'correctness', base: null, other: 0.9 }]] });
  draw(compared({ items: [item] }));
  expect(await screen.findByLabelText('neither better nor worse:')).toBeVisible();
});

test('an evaluator may be called what every object has', async () => {
  const item = comparedItem({
    outputs: [
      output({ scores: { constructor: 0.5 } as never, evaluations: {} }),
      output({ scores: {}, evaluations: {} }),
    ],
    scoreChanges: [[]],
  });
  draw(compared({ items: [item] }), `${at}&item=france`);
  const scores = await screen.findByRole('table', { name: 'What evaluators said' });
  expect(within(scores).getByRole('row', { name: /^constructor/ })).toHaveTextContent(
    'constructorA0.500Bno score',
  );
});

test('search, evaluator and order are those of the address', async () => {
  const { asked } = draw(compared(), `${at}&search=paris&evaluator=correctness&sort=best&only=improved`);
  expect(await screen.findByRole('searchbox', { name: 'Search keys, inputs and outputs' })).toHaveValue(
    'paris',
  );
  expect(screen.getByRole('combobox', { name: 'Changes of which evaluator' })).toHaveValue('correctness');
  const query = Object.fromEntries(asked[0]?.searchParams ?? []);
  expect(query).toMatchObject({ search: 'paris', evaluator: 'correctness', sort: 'best', only: 'improved' });
});

test('an item opens with both outputs, their scores and the way to each run', async () => {
  const { user, router } = draw(compared());
  const item = await screen.findByRole('button', { name: /france/ });
  expect(item).toHaveAttribute('aria-expanded', 'false');
  expect(screen.getByRole('rowheader', { name: /france/ }).closest('tr')).toHaveTextContent('1.000 → 0.000');
  await user.click(item);
  expect(router.state.location.search).toContain('item=france');
  expect(screen.getByText('Paris')).toBeVisible();
  expect(screen.getByText('Lyon')).toBeVisible();
  const scores = screen.getByRole('table', { name: 'What evaluators said' });
  expect(within(scores).getByRole('row', { name: /^correctness/ })).toHaveTextContent(
    /1\.000.*0\.000.*−1\.000/,
  );
  expect(screen.getByRole('link', { name: 'Open in the baseline' })).toHaveAttribute(
    'href',
    '/runs/aaa?item=france',
  );
  expect(screen.getByRole('link', { name: 'Open in run B' })).toHaveAttribute(
    'href',
    '/runs/bbb?item=france',
  );
});

test('an item that came to fail shows why', async () => {
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
  expect(screen.getByText('fails now')).toBeVisible();
});

test('an item of one run alone, or with other content, says so', async () => {
  const gone = comparedItem({ key: 'gone', outputs: [output(), null], changes: [null], scoreChanges: [[]] });
  draw(compared({ items: [gone, comparedItem({ contentChanged: true })], matching: 2 }));
  const row = (await screen.findByRole('rowheader', { name: /gone/ })).closest('tr');
  expect(row).toHaveTextContent('only in A');
  expect(row).toHaveTextContent('not in this run');
  expect(screen.getByRole('rowheader', { name: /france/ })).toHaveTextContent('other content');
});

test('another run can be made the baseline', async () => {
  const { user, router } = draw(compared());
  await user.click(await screen.findByRole('button', { name: 'Make run B the baseline' }));
  expect(router.state.location.search).toBe('?a=bbb&b=aaa');
});

test('of three runs, each has its differences, and can be left out', async () => {
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
  const table = await screen.findByRole('table', { name: 'Scores against the baseline' });
  expect(within(table).getAllByRole('rowheader')).toHaveLength(2);
  await user.click(screen.getByRole('button', { name: 'Remove run B' }));
  expect(router.state.location.search).toBe('?a=aaa&b=ccc');
});

test('a run that is not there is named, and others can be chosen', async () => {
  draw(errorResponse(404, 'there is no run `aaa`'));
  expect(await screen.findByRole('alert')).toHaveTextContent('there is no run `aaa`');
  expect(screen.getByRole('link', { name: 'Choose other runs' })).toHaveAttribute('href', '/compare');
});

test('no item that matches offers all of them', async () => {
  const { user, router } = draw(compared({ items: [], matching: 0 }), `${at}&only=improved&search=x`);
  await user.click(await screen.findByRole('button', { name: 'Show all items' }));
  expect(router.state.location.search).toBe('?a=aaa&b=bbb');
});

test('without runs in the address, the newest two of each experiment are offered', async () => {
  const rows = [runRow({ id: 'new' }), runRow({ id: 'old' })];
  mockServer({ '/api/runs': runs(rows, { known: 2 }) });
  renderPage(Component, { at: '/compare' });
  const link = await screen.findByRole('link', { name: 'Compare the newest two runs of answers' });
  expect(link).toHaveAttribute('href', '/compare?a=old&b=new');
});

test('runs are chosen one after the other', async () => {
  mockServer({
    '/api/runs': runs([runRow({ id: 'new' }), runRow({ id: 'old', name: 'others' })], { known: 2 }),
  });
  const { user, router } = renderPage(Component, { at: '/compare', path: '/compare' });
  await user.click(await screen.findByRole('button', { name: 'Baseline' }));
  await user.click(await screen.findByRole('button', { name: /others/ }));
  await user.click(screen.getByRole('button', { name: 'Run B' }));
  await user.click(await screen.findByRole('button', { name: /answers/ }));
  await user.click(screen.getByRole('button', { name: 'Compare' }));
  expect(router.state.location.search).toBe('?a=old&b=new');
});

test('where there are no runs, the command that makes one is told', async () => {
  mockServer({ '/api/runs': runs([]) });
  renderPage(Component, { at: '/compare' });
  expect(await screen.findByText('cargo cobalt run')).toBeVisible();
});
