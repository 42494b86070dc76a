import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { TrendPoint, Trends } from '../../api/types';
import { choose } from '../../test/choose';
import { renderPage } from '../../test/render';
import { runRow, runs } from '../../test/runs';
import { mockServer } from '../../test/server';
import { Component } from '.';
import { scoreTicks } from './charts';
import { changeFromPrevious, plotRuns, scoreSeries, scoreThresholds } from './series';

const point = (given: Partial<TrendPoint> = {}): TrendPoint => ({
  id: 'aaa',
  timestamp: '2026-02-05T10:00:00.000Z',
  scores: { correctness: 0.9, tone: 0.8 },
  verdict: 'passed',
  tags: [],
  totalItems: 12,
  errors: 0,
  durationMs: 4200,
  avgLatencyMs: 310,
  replayedItems: 0,
  datasetHash: 'one',
  gitCommit: '0123456789abcdef',
  ...given,
});

const POINTS = [
  point(),
  point({ id: 'bbb', scores: { correctness: 0.7, tone: 0.85 }, verdict: 'failed', datasetHash: 'two' }),
  point({ id: 'ccc', scores: { correctness: 0.75, tone: 0.85 }, datasetHash: 'two' }),
];

const THRESHOLD = {
  name: 'correctness.avg>=0.6',
  quantity: 'score',
  evaluator: 'correctness',
  bound: 0.6,
} as const;

const draw = (given: Partial<Trends> = {}, at = '/trends') => {
  const requests = mockServer({
    '/api/runs': runs([runRow()], {
      experiments: [
        { name: 'answers', runs: 3 },
        { name: 'others', runs: 1 },
      ],
    }),
    '/api/trends': { trends: POINTS, thresholds: [THRESHOLD], ...given },
  });
  return { requests, ...renderPage(Component, { at, path: '/trends' }) };
};

// Charts are only drawn if they have a size.
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 800, 320));
});

test('the experiment of the latest run is shown until another is selected', async () => {
  const { requests, user, router } = draw();
  await waitFor(() => expect(requests.at(-1)?.searchParams.get('experiment')).toBe('answers'));
  await choose(user, 'Experiment', 'others (1)');
  expect(router.state.location.search).toBe('?experiment=others');
  await waitFor(() => expect(requests.at(-1)?.searchParams.get('experiment')).toBe('others'));
});

test('the table has all runs, latest first, with changes and badges', async () => {
  draw();
  const table = within(await screen.findByRole('region', { name: 'Runs in the charts' }));
  const rows = table.getAllByRole('row').slice(1);
  expect(rows.map((row) => within(row).getByRole('link').getAttribute('href'))).toEqual([
    '/runs/ccc',
    '/runs/bbb',
    '/runs/aaa',
  ]);
  expect(rows[0]).toHaveTextContent('0.750+0.050');
  expect(rows[1]).toHaveTextContent('0.700−0.200');
  expect(rows[1]).toHaveTextContent('Dataset changed');
  expect(rows[1]).toHaveTextContent('Failed');
  expect(rows[2]).not.toHaveTextContent('Dataset changed');
});

test('latency and cost of a replayed run are marked', async () => {
  const replayed = point({ id: 'ddd', cost: 0.02, replayedItems: 10 });
  draw({ trends: [point({ cost: 0.02 }), replayed] });
  const table = within(await screen.findByRole('region', { name: 'Runs in the charts' }));
  expect(table.getAllByRole('cell', { name: '10 of 12 as recorded: 310 ms' })).toHaveLength(1);
  expect(table.getAllByRole('cell', { name: '10 of 12 as recorded: $0.020' })).toHaveLength(1);
  expect(table.getByRole('cell', { name: '310 ms' })).toBeVisible();
});

test('the table of many runs initially shows the latest thirty', async () => {
  const many = Array.from({ length: 45 }, (_, index) => point({ id: `run${index}` }));
  const { user } = draw({ trends: many });
  const table = within(await screen.findByRole('region', { name: 'Runs in the charts' }));
  expect(table.getAllByRole('row')).toHaveLength(31);
  await user.click(screen.getByRole('button', { name: 'Show all 45 runs' }));
  expect(table.getAllByRole('row')).toHaveLength(46);
});

test('lines can be hidden, and the URL keeps the hidden ones', async () => {
  const { user, router } = draw();
  const tone = await screen.findByRole('button', { name: 'tone' });
  expect(tone).toHaveAttribute('aria-pressed', 'true');
  await user.click(tone);
  expect(router.state.location.search).toBe('?hide=tone');
  expect(tone).toHaveAttribute('aria-pressed', 'false');
  await user.click(tone);
  expect(router.state.location.search).toBe('');
});

test('a malformed URL hides nothing', async () => {
  draw({}, '/trends?hide=%25');
  expect(await screen.findByRole('button', { name: 'tone' })).toHaveAttribute('aria-pressed', 'true');
});

test('an unknown evaluator shows all evaluators', async () => {
  draw({}, '/trends?evaluator=gone');
  expect(await screen.findByRole('columnheader', { name: 'tone' })).toBeVisible();
});

test('an evaluator may have the name of an object property', () => {
  const [series] = scoreSeries(['constructor']);
  expect(series?.value(point())).toBeUndefined();
});

test('thresholds are drawn and named, except those of hidden lines', async () => {
  const { container, user } = draw();
  const named = await screen.findByRole('list', { name: 'Thresholds' });
  expect(named).toHaveTextContent('correctness.avg>=0.6');
  await waitFor(() => expect(container.querySelector('.recharts-reference-line-line')).toBeTruthy());
  await user.click(screen.getByRole('button', { name: 'correctness' }));
  expect(screen.queryByRole('list', { name: 'Thresholds' })).toBeNull();
});

test('an evaluator, a tag, a time range and a number of runs can be selected', async () => {
  const { requests, user, router } = draw({}, '/trends?tag=main&range=7d');
  await choose(user, 'Evaluator', 'tone');
  await choose(user, 'Number of runs', 'Latest 300 runs');
  expect(router.state.location.search).toBe('?tag=main&range=7d&evaluator=tone&runs=300');
  expect(screen.queryByRole('columnheader', { name: 'correctness' })).toBeNull();
  await waitFor(() => expect(requests.at(-1)?.searchParams.get('limit')).toBe('300'));
  expect(requests.at(-1)?.searchParams.get('tag')).toBe('main');
  expect(requests.at(-1)?.searchParams.get('since')).toMatch(/^\d{4}-\d\d-\d\d$/);
});

test('a single run shows that a trend needs two, and the next command', async () => {
  draw({ trends: POINTS.slice(0, 1) });
  expect(await screen.findByText(/A trend needs at least two runs/)).toBeVisible();
  expect(screen.getByText('cargo cobalt run')).toBeVisible();
});

test('without matching runs, the filters can be cleared', async () => {
  const { user, router } = draw({ trends: [] }, '/trends?tag=main');
  await user.click(await screen.findByRole('button', { name: 'Clear filters' }));
  expect(router.state.location.search).toBe('');
});

test('without any runs, the command to create one is shown', async () => {
  mockServer({ '/api/runs': runs([]) });
  renderPage(Component, { at: '/trends' });
  expect(await screen.findByText('No runs yet')).toBeVisible();
  expect(screen.getByText('cargo cobalt run')).toBeVisible();
});

test('runs are spaced evenly or by time', () => {
  expect(plotRuns(POINTS, 'runs').map(({ x }) => x)).toEqual([0, 1, 2]);
  expect(plotRuns(POINTS, 'time')[0]?.x).toBe(Date.parse('2026-02-05T10:00:00.000Z'));
});

test('a changed dataset is marked if both runs have a hash', () => {
  const unknown = [point({ datasetHash: undefined }), ...POINTS];
  expect(plotRuns(unknown, 'runs').map(({ datasetChanged: isOtherData }) => isOtherData)).toEqual([
    false,
    false,
    true,
    false,
  ]);
});

test('a change needs both values', () => {
  const [first, second] = plotRuns([point({ scores: {} }), point()], 'runs');
  const [series] = scoreSeries(['correctness']);
  expect(series && first && changeFromPrevious(series, first)).toBeUndefined();
  expect(series && second && changeFromPrevious(series, second)).toBeUndefined();
});

test('thresholds for all scores are drawn with any evaluator', () => {
  const all = { ...THRESHOLD, evaluator: undefined };
  expect(scoreThresholds([THRESHOLD, all], ['tone'])).toEqual([all]);
});

test('the score axis starts below the lowest score and threshold', () => {
  const drawn = plotRuns([point()], 'runs');
  expect(scoreTicks(drawn, scoreSeries(['tone']), [])[0]).toBe(0.7);
  expect(scoreTicks(drawn, scoreSeries(['tone']), [THRESHOLD])).toEqual([0.5, 0.6, 0.7, 0.8, 0.9, 1]);
});
