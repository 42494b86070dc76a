import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import { choose } from '../../test/choose';
import { mockLayout } from '../../test/layout';
import { renderPage } from '../../test/render';
import { liveRun, runRow, runs } from '../../test/runs';
import { mockServer } from '../../test/server';
import { setWidth } from '../../test/window';
import { Component } from '.';

const RUNS = [
  runRow({
    id: 'new1',
    timestamp: '2026-02-05T10:00:00.000Z',
    verdict: 'failed',
    avgScores: { correctness: 0.7, tone: 0.9 },
    recentScores: { correctness: [0.8, 0.7], tone: [0.9, 0.9] },
    passedItems: 5,
    lowItems: 7,
    cost: 0.0015,
    judgeCost: 0.2,
    gitCommit: '0123456789',
    tags: ['nightly'],
  }),
  runRow({
    id: 'part1',
    timestamp: '2026-02-04T12:00:00.000Z',
    verdict: 'partial',
    avgScores: {},
    recentScores: {},
  }),
  runRow({
    id: 'mid1',
    timestamp: '2026-02-04T10:00:00.000Z',
    avgScores: { correctness: 0.8, tone: 0.9 },
    recentScores: { correctness: [0.95, 0.8], tone: [null, 0.9] },
    cost: 0.02,
  }),
  runRow({
    id: 'old1',
    timestamp: '2026-02-03T10:00:00.000Z',
    avgScores: { correctness: 0.95 },
    isBaseline: true,
    recentScores: { correctness: [0.95] },
  }),
];

const show = (parameters = '', rows = RUNS) => {
  mockServer({ '/api/runs': runs(rows) });
  return renderPage(Component, { at: `/experiments/answers${parameters}`, path: '/experiments/:name' });
};

const row = async (id: string) => within((await screen.findByText(id)).closest('tr') as HTMLElement);

const ids = () => [...document.querySelectorAll('[data-row]')].map((link) => link.getAttribute('data-row'));

beforeEach(() => {
  setWidth(1440);
  mockLayout();
});

test('the runs have a column per score with the change to the run before', async () => {
  show();
  const newest = await row('new1');
  expect(newest.getByRole('link', { name: /^2026-02-05 \d\d:00$/ })).toHaveAttribute('href', '/runs/new1');
  expect(newest.getByText('Failed')).toBeVisible();
  const cells = newest.getAllByRole('cell').map((cell) => cell.textContent);
  expect(cells).toContain('0.700−0.100');
  expect(cells).toContain('0.9000.000');
  expect(cells).toContain('5 of 127 below');
  expect(cells).toContain('0123456');
  // Without a score in the run before there is no change.
  expect((await row('mid1')).getAllByRole('cell').map((cell) => cell.textContent)).toContain('0.900');
  expect((await row('part1')).getAllByText('no score')).toHaveLength(2);
});

test('costs of a column have the same precision, and the agent cost is apart from the total', async () => {
  show();
  expect(screen.queryByText('Cost')).toBeNull();
  const newest = await row('new1');
  expect(newest.getByText('$0.0015')).toBeVisible();
  expect(newest.getByTitle('Agent cost $0.0015, judge cost $0.2000')).toHaveTextContent('$0.2015');
  const middle = await row('mid1');
  expect(middle.getAllByText('$0.0200')).not.toHaveLength(0);
});

test('the baseline is marked, and the changes can be against it', async () => {
  const { user, router } = show();
  expect(await (await row('old1')).findByText('Baseline')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'vs. baseline' }));
  expect(router.state.location.search).toBe('?change=baseline');
  expect((await row('new1')).getByText('−0.250')).toBeVisible();
});

test('each run but the first can be compared with the complete run before', async () => {
  show();
  const link = (await row('new1')).getByRole('link', {
    name: /^Compare with the previous run of 2026-02-04/,
  });
  expect(link).toHaveAttribute('href', '/runs/new1?compare=mid1&only=regressed');
  expect((await row('old1')).queryByRole('link', { name: /previous run/ })).toBeNull();
});

test('runs are sorted by a score, with unknown ones last', async () => {
  const { user, router } = show();
  await row('new1');
  expect(ids()).toEqual(['new1', 'part1', 'mid1', 'old1']);
  await user.click(screen.getByRole('button', { name: 'correctness' }));
  expect(ids()).toEqual(['new1', 'mid1', 'old1', 'part1']);
  await user.click(screen.getByRole('button', { name: 'correctness' }));
  expect(ids()).toEqual(['old1', 'mid1', 'new1', 'part1']);
  expect(router.state.location.search).toBe('?sort=score%3Acorrectness&order=desc');
  expect(screen.getByRole('columnheader', { name: 'correctness' })).toHaveAttribute(
    'aria-sort',
    'descending',
  );
});

test('runs are filtered by text, verdict and tag', async () => {
  const { user, router } = show('?search=0123456');
  await row('new1');
  expect(ids()).toEqual(['new1']);
  expect(screen.getByText('1 of 4 runs')).toBeVisible();
  await choose(user, 'Verdict', 'Partial');
  expect(await screen.findByRole('heading', { name: 'No runs match these filters' })).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Clear all filters' }));
  expect(router.state.location.search).toBe('');
  await choose(user, 'Tag', 'nightly');
  expect(ids()).toEqual(['new1']);
});

test('selected runs are compared with the oldest', async () => {
  const { user } = show();
  await user.click((await row('new1')).getByRole('checkbox'));
  await user.click((await row('old1')).getByRole('checkbox'));
  const bar = within(screen.getByRole('region', { name: 'Selected runs' }));
  expect(bar.getByRole('link', { name: 'Compare 2 runs' })).toHaveAttribute(
    'href',
    '/runs/new1?compare=old1',
  );
});

test('j and x move and select without a focus', async () => {
  const { user } = show();
  await row('new1');
  await user.keyboard('j');
  await waitFor(() => expect(document.activeElement).toHaveAttribute('data-row', 'new1'));
  await user.keyboard('x');
  expect((await row('new1')).getByRole('checkbox')).toBeChecked();
});

test('only some of thousands of runs are rendered', async () => {
  show(
    '',
    Array.from({ length: 3000 }, (_, index) => runRow({ id: `run${index}` })),
  );
  await screen.findByText('3,000 runs');
  expect(screen.getAllByRole('row').length).toBeLessThan(60);
  expect(screen.getByRole('table', { name: 'Runs' })).toHaveAttribute('aria-rowcount', '3001');
});

test('a tab keeps only its own parameters', async () => {
  const { user, router } = show('?sort=latency&search=a');
  await user.click(await screen.findByRole('tab', { name: 'Trends' }));
  expect(router.state.location.search).toBe('?tab=trends');
});

test('an experiment without runs is reported in plain words', async () => {
  show('', []);
  expect(await screen.findByRole('heading', { level: 1, name: 'Experiment not found' })).toBeVisible();
  expect(screen.getByText(/No run belongs to an experiment named/)).toHaveTextContent('answers');
  expect(screen.getByRole('link', { name: 'Show the experiments' })).toHaveAttribute('href', '/');
});

test('an experiment whose first run is in progress is not missing', async () => {
  mockServer({ '/api/runs': runs([], { live: [liveRun()] }) });
  renderPage(Component, { at: '/experiments/answers', path: '/experiments/:name' });
  expect(await screen.findByRole('heading', { name: 'The first run is in progress' })).toBeVisible();
});

test('a narrow window shows cards, which can be sorted', async () => {
  setWidth(390);
  const { user, router } = show();
  expect(await screen.findByRole('list', { name: 'Runs' })).toBeVisible();
  await choose(user, 'Sort by', 'Sort by: correctness');
  expect(router.state.location.search).toBe('?sort=score%3Acorrectness');
  expect(ids()).toEqual(['new1', 'mid1', 'old1', 'part1']);
});
