import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import type { LiveRun, MatrixItem } from '../../api/types';
import { choose } from '../../test/choose';
import { transcript, turn } from '../../test/conversation';
import { mockLayout } from '../../test/layout';
import { group, matrix, pair, rankedRun, ranking } from '../../test/ranking';
import { renderPage } from '../../test/render';
import { wholeItem } from '../../test/run';
import { liveRun } from '../../test/runs';
import { errorResponse, mockServer } from '../../test/server';
import { Component } from '.';
import { frontOf, pointsOf } from './pareto';

beforeEach(() => mockLayout());

function draw(response: object, others: Record<string, object> = {}, query = '', live?: LiveRun[]) {
  const requests = mockServer({
    '/api/groups/0123456789ab': response,
    '/api/ranking': response,
    '/api/matrix': matrix(),
    ...others,
  });
  return {
    requests,
    ...renderPage(Component, { at: `/groups/0123456789ab${query}`, path: '/groups/:group', live }),
  };
}

test('the sentence is on top, and each variant has its scores with CI, rank, cost and settings', async () => {
  draw(group(), {}, '?details=runs');
  expect(await screen.findByRole('heading', { level: 1, name: 'Variants of qa' })).toBeVisible();
  expect(screen.getByRole('region', { name: 'Result' })).toHaveTextContent(
    'mini is the cheapest that is not worse than another.',
  );
  const table = screen.getByRole('table', { name: /^Variants with scores/ });
  const row = within(table).getByRole('row', { name: /^mini/ });
  expect(within(row).getByRole('link', { name: 'mini' })).toHaveAttribute('href', '/runs/run-mini');
  for (const text of ['Default', 'Recommended', 'Pareto front', 'gpt-mini', 'rank 1–2', '0.800 to 0.950']) {
    expect(row).toHaveTextContent(text);
  }
  expect(row).toHaveTextContent('90%36 of 40');
  expect(row).toHaveTextContent(/820 ms\$1\.201,500$/);
  expect(within(table).getByRole('row', { name: /^large/ })).not.toHaveTextContent('Pareto front');
});

test('a value that is unknown says so', async () => {
  const runs = [rankedRun('a', { costPer1000: null, latencyMs: null, scores: [] }), rankedRun('b')];
  draw(group({ ranking: ranking({ runs, pairs: [], recommendation: null }) }), {}, '?details=runs');
  const row = await screen.findByRole('row', { name: /^a / });
  expect(row).toHaveTextContent('no score');
  expect(within(row).getAllByText('unknown')).toHaveLength(2);
});

test('one run is not called better than others', async () => {
  draw(group({ ranking: ranking({ runs: [rankedRun('a', { isOnParetoFront: true })], pairs: [] }) }));
  const row = await screen.findByRole('row', { name: /^a / });
  for (const text of ['Recommended', 'Pareto front']) expect(row).not.toHaveTextContent(text);
  expect(screen.queryByRole('region', { name: 'Result' })).toBeNull();
});

test('only differences beyond noise are listed until all are requested', async () => {
  const { user } = draw(group(), {}, '?details=differences');
  const table = await screen.findByRole('table', { name: 'Differences between pairs of runs' });
  expect(within(table).getAllByRole('row')).toHaveLength(3);
  expect(within(table).getAllByRole('row')[1]).toHaveTextContent(/mini\s*better than\s*nano/);
  await user.click(screen.getByRole('button', { name: 'Show all 3' }));
  expect(within(table).getAllByRole('row')[3]).toHaveTextContent(/mini\s*within noise of\s*large/);
});

test('without a difference beyond noise, this is said', async () => {
  draw(
    group({ ranking: ranking({ pairs: [pair(0, 1, { verdict: 'inconclusive' })] }) }),
    {},
    '?details=differences',
  );
  expect(await screen.findByText('No significant difference between any two runs.')).toBeVisible();
});

test('the plot has a table with the same values, cheapest first', async () => {
  draw(group());
  const table = await screen.findByRole('table', { name: 'Score and agent cost, cheapest first' });
  const rows = within(table).getAllByRole('row').slice(1);
  expect(rows.map((row) => row.textContent)).toEqual([
    'nano$0.400.6000.500 to 0.700yes',
    'mini$1.200.9000.800 to 0.950yes',
    'large$9.000.8900.790 to 0.940no',
  ]);
});

test('the Pareto front has the points that no other dominates', () => {
  const points = pointsOf(ranking(), '');
  expect(points).toHaveLength(3);
  expect(frontOf(points).map((point) => point.label)).toEqual(['nano', 'mini']);
  const unpriced = ranking({ runs: [rankedRun('a', { costPer1000: null })] });
  expect(pointsOf(unpriced, '')).toEqual([]);
});

test('one section is open at a time, or none', async () => {
  const { user, router } = draw(group());
  expect(await screen.findByRole('region', { name: 'Score and agent cost' })).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Variants' }));
  expect(router.state.location.search).toBe('?details=runs');
  expect(screen.getByRole('region', { name: 'Variants' })).toBeVisible();
  expect(screen.queryByRole('region', { name: 'Score and agent cost' })).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Variants', expanded: true }));
  expect(router.state.location.search).toBe('?details=none');
  expect(screen.queryByRole('region', { name: 'Variants' })).toBeNull();
});

test('the head of the matrix has the score, rank and agent cost of each variant, and sorts by its score', async () => {
  const { user, requests, router } = draw(group());
  const head = await screen.findByRole('columnheader', { name: /nano/ });
  expect(head).toHaveTextContent('0.600 · rank 3 · $0.40 per 1,000 items');
  const last = () => requests.filter(({ pathname }) => pathname === '/api/matrix').at(-1)?.searchParams;
  await user.click(within(head).getByRole('button'));
  expect(router.state.location.search).toBe('?sort=run-nano');
  expect(head).toHaveAttribute('aria-sort', 'ascending');
  await waitFor(() => expect(last()?.get('sort')).toBe('run-nano'));
  await user.click(within(head).getByRole('button'));
  expect(router.state.location.search).toBe('?sort=run-nano&order=desc');
  expect(screen.getByRole('combobox', { name: 'Sort items' })).toHaveTextContent(
    'Highest score of nano first',
  );
  await user.click(within(head).getByRole('button'));
  expect(router.state.location.search).toBe('');
  await choose(user, 'Sort items', 'Largest spread of scores first');
  await waitFor(() => expect(last()?.get('order')).toBe('desc'));
});

test('one evaluator is selected for the plot, the head and the order', async () => {
  const scores = (mean: number) =>
    ['correct', 'cited'].map((evaluator, place) => ({
      evaluator,
      mean: mean - place / 10,
      rank: { best: 1, worst: 2 },
    }));
  const runs = [rankedRun('nano', { scores: scores(0.6) }), rankedRun('mini', { scores: scores(0.9) })];
  const { user, requests } = draw(group({ ranking: ranking({ runs, pairs: [] }) }), {}, '?sort=spread');
  await choose(user, 'Score', 'cited');
  expect(screen.getByRole('columnheader', { name: /mini/ })).toHaveTextContent('0.800 · rank 1–2');
  expect(
    within(screen.getByRole('table', { name: /^Score and agent cost/ })).getByRole('row', { name: /^mini/ }),
  ).toHaveTextContent('0.800');
  await waitFor(() => expect(requests.at(-1)?.searchParams.get('evaluator')).toBe('cited'));
});

test('j and k move between the items', async () => {
  const [item] = matrix().items;
  const items = ['france', 'spain'].map((key, index) => ({ ...(item as MatrixItem), key, index }));
  const { user } = draw(group(), { '/api/matrix': matrix({ items, matching: 2 }) });
  const first = await screen.findByRole('button', { name: /france/ });
  await user.keyboard('j');
  expect(first).toHaveFocus();
  await user.keyboard('j');
  expect(screen.getByRole('button', { name: /spain/ })).toHaveFocus();
  await user.keyboard('k');
  expect(first).toHaveFocus();
});

test('the matrix has the scores and the start of each output, and filters query the server', async () => {
  const { user, requests, router } = draw(group());
  const table = await screen.findByRole('table', { name: 'Items with the output of each run' });
  const [nano, mini, large] = within(table).getAllByRole('cell');
  expect(nano).toHaveTextContent(/Below pass mark.*correct.*0\.000, below pass mark.*Lyon/);
  expect(mini).toHaveTextContent(/Passed.*correct 1\.000.*cited n\/a.*Paris/);
  expect(large).toHaveTextContent('Not in this run');
  await user.click(screen.getByRole('button', { name: 'Runs disagree 1' }));
  expect(router.state.location.search).toBe('?only=disagreeing');
  const last = requests.filter(({ pathname }) => pathname === '/api/matrix').at(-1);
  expect(last?.search).toContain('group=0123456789ab&only=disagreeing');
});

test('an item opens with the outputs in full beside each other', async () => {
  const evaluations = { correct: { score: 0, reason: 'it is Paris' }, cited: { notApplicable: true } };
  const { user } = draw(group(), {
    '/api/runs/run-nano/items/france': wholeItem(0, { output: { output: 'Lyon, in full' }, evaluations }),
    '/api/runs/run-mini/items/france': wholeItem(0, { output: { output: 'Paris, in full' } }),
  });
  await user.click(await screen.findByRole('button', { name: /france/, expanded: false }));
  const nano = await screen.findByRole('region', { name: 'Output of nano' });
  expect(await within(nano).findByText('Lyon, in full')).toBeVisible();
  expect(nano).toHaveTextContent(/correct 0\.000it is Paris/);
  expect(nano).toHaveTextContent('cited n/a');
  const link = within(nano).getByRole('link', { name: /Open/ });
  expect(link).toHaveAttribute('href', '/runs/run-nano?item=france');
  expect(screen.getByRole('region', { name: 'Output of mini' })).toHaveTextContent('Paris, in full');
  expect(screen.queryByRole('region', { name: 'Output of large' })).toBeNull();
});

test('an output opens with its conversation', async () => {
  const said = transcript({ turns: [turn({ reply: 'Lyon, I think.' })] });
  const { user } = draw(group(), {
    '/api/runs/run-nano/items/france': wholeItem(0, { transcript: said }),
    '/api/runs/run-mini/items/france': wholeItem(0),
  });
  await user.click(await screen.findByRole('button', { name: /france/, expanded: false }));
  const nano = await screen.findByRole('region', { name: 'Output of nano' });
  await user.click(await within(nano).findByText('Conversation (1 turn)'));
  expect(within(nano).getByText('Lyon, I think.')).toBeVisible();
  expect(screen.getAllByText(/^Conversation/)).toHaveLength(1);
});

test('unfinished variants are listed', async () => {
  const variant = { experiment: 'qa', name: 'huge', group: '0123456789ab' };
  draw(group({ live: [liveRun({ variant })] }));
  const list = await screen.findByRole('list', { name: 'Unfinished variants' });
  expect(list).toHaveTextContent('huge in progress: 10 of 40 items');
});

test('unfinished variants follow the events', async () => {
  const variant = { experiment: 'qa', name: 'huge', group: '0123456789ab' };
  const interrupted = liveRun({ variant, state: 'cut-off', finishedItems: 11 });
  draw(group({ live: [liveRun({ variant })] }), {}, '', [interrupted, liveRun({ id: 'f00ba5' })]);
  const list = await screen.findByRole('list', { name: 'Unfinished variants' });
  expect(list).toHaveTextContent(/^huge interrupted: 11 of 40 items$/);
});

test('the preferences of a judge are listed, strongest first', async () => {
  const ci95 = [
    { low: -0.6, high: -0.2 },
    { low: 0.1, high: 0.5 },
    { low: -0.1, high: 0.3 },
  ];
  const preference = {
    evaluator: 'judge',
    strengths: [-0.4, 0.3, 0.1],
    ci95,
    otherAnswers: 0,
    otherAnswersCi95: { low: -0.2, high: 0.2 },
    firstPosition: 0.2,
    comparisons: 120,
  };
  const { user } = draw(group({ ranking: ranking({ preferences: [preference] }) }));
  await user.click(await screen.findByRole('button', { name: 'Preferred by judge' }));
  const panel = await screen.findByRole('region', { name: 'Preferred by judge' });
  const names = within(panel).getAllByRole('rowheader');
  expect(names.map((name) => name.textContent)).toEqual(['mini', 'large', 'Other answers', 'nano']);
  expect(panel).toHaveTextContent("The judge's preference for the first position: +0.20.");
});

test('any runs are ranked', async () => {
  const requests = mockServer({ '/api/ranking': ranking({ group: null }), '/api/matrix': matrix() });
  renderPage(Component, { at: '/ranking?runs=a,b,c,d', path: '/ranking' });
  expect(await screen.findByRole('heading', { level: 1, name: 'Ranking of 3 runs' })).toBeVisible();
  expect(requests[0]?.searchParams.get('runs')).toBe('a,b,c,d');
});

test('without two runs, the page says what to do', async () => {
  mockServer({});
  renderPage(Component, { at: '/ranking?runs=a', path: '/ranking' });
  expect(await screen.findByText(/^Select two to eight runs in the list/)).toBeVisible();
});

test('an unknown group is said to be missing', async () => {
  draw(errorResponse(404, 'no run belongs to the group `0123456789ab`'));
  expect(await screen.findByRole('heading', { level: 1, name: 'No such variants' })).toBeVisible();
  expect(screen.getByText(/no run belongs to the group/)).toBeVisible();
});
