import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { TrendPoint, Trends } from '../../api/types';
import { choose } from '../../test/choose';
import { renderPage } from '../../test/render';
import { runRow, runs } from '../../test/runs';
import { mockServer } from '../../test/server';
import { Component } from '.';
import { scoreTicks } from './trends/charts';
import { axesOf, metricsOf, scatterPoints } from './trends/scatter-axes';
import { changeFromPrevious, plotRuns, scoreSeries, scoreThresholds } from './trends/series';

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

const draw = (given: Partial<Trends> = {}, parameters = '') => {
  const requests = mockServer({
    '/api/runs': runs([runRow({ tags: ['main'] })]),
    '/api/trends': { trends: POINTS, thresholds: [THRESHOLD], ...given },
  });
  const at = `/experiments/answers?tab=trends${parameters}`;
  const page = renderPage(Component, { at, path: '/experiments/:name' });
  /** The latest request for trends. */
  const query = () => requests.filter(({ pathname }) => pathname === '/api/trends').at(-1)?.searchParams;
  return { query, ...page };
};

// Charts are only drawn if they have a size.
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 800, 320));
});

test('the trends are those of the experiment', async () => {
  const { query } = draw();
  await waitFor(() => expect(query()?.get('experiment')).toBe('answers'));
  expect(screen.getByRole('tab', { name: 'Trends' })).toHaveAttribute('aria-selected', 'true');
});

test('the scatter plot says which run is under the pointer, and a click opens it', async () => {
  const { container, user, router } = draw();
  const run = await screen.findByRole('link', { name: /failed: Mean score 0\.775, Mean latency 310 ms/ });
  await user.hover(run);
  const panel = within(screen.getByRole('region', { name: 'Score, latency and cost' }));
  expect(panel.getByText('Failed')).toBeVisible();
  expect(panel.getByText('Click or press Enter to open the run')).toBeVisible();
  // Only one point can be reached by Tab.
  expect(container.querySelectorAll('[data-point][tabindex="0"]')).toHaveLength(1);
  await user.click(run);
  expect(router.state.location.pathname).toBe('/runs/bbb');
});

test('the arrow keys move between the points, and Enter opens one', async () => {
  const { user, router } = draw();
  const latest = await screen.findByRole('link', { name: /Mean score 0\.800/ });
  latest.focus();
  await user.keyboard('{ArrowLeft}{ArrowLeft}');
  expect(document.activeElement).toHaveAttribute('data-point', 'aaa');
  await user.keyboard('{Enter}');
  expect(router.state.location.pathname).toBe('/runs/aaa');
});

test('the axes of the scatter plot can be chosen, and are kept in the URL', async () => {
  const { user, router } = draw({}, '&y=latency');
  await choose(user, 'Horizontal axis', 'tone');
  expect(router.state.location.search).toBe('?tab=trends&y=latency&x=score%3Atone');
  expect(await screen.findByRole('link', { name: /failed: Mean latency 310 ms, tone 0\.850/ })).toBeVisible();
});

test('the axes are metrics that the runs have', () => {
  const metrics = metricsOf([point({ cost: null }), point({ totalTokens: 5 })]);
  expect(metrics.map(({ name }) => name)).toEqual([
    'Mean score',
    'Mean latency',
    'Agent tokens',
    'correctness',
    'tone',
  ]);
  const axes = axesOf(metrics, 'tokens', 'nonsense');
  expect(axes?.map(({ name }) => name)).toEqual(['Agent tokens', 'Mean score']);
  // A run without a metric is not drawn.
  expect(axes && scatterPoints([point(), point({ id: 'bbb', totalTokens: 5 })], axes)).toHaveLength(1);
});

test('lines can be hidden, and the URL keeps the hidden ones', async () => {
  const { user, router } = draw();
  const tone = await screen.findByRole('button', { name: 'tone' });
  expect(tone).toHaveAttribute('aria-pressed', 'true');
  await user.click(tone);
  expect(router.state.location.search).toBe('?tab=trends&hide=tone');
  expect(tone).toHaveAttribute('aria-pressed', 'false');
  await user.click(tone);
  expect(router.state.location.search).toBe('?tab=trends');
});

test('a malformed URL hides nothing', async () => {
  draw({}, '&hide=%25');
  expect(await screen.findByRole('button', { name: 'tone' })).toHaveAttribute('aria-pressed', 'true');
});

test('an unknown evaluator shows all evaluators', async () => {
  draw({}, '&evaluator=gone');
  expect(await screen.findByRole('button', { name: 'tone' })).toBeVisible();
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
  const { query, user, router } = draw({}, '&tag=main&range=7d');
  await choose(user, 'Evaluator', 'tone');
  await choose(user, 'Number of runs', 'Latest 300 runs');
  expect(router.state.location.search).toBe('?tab=trends&tag=main&range=7d&evaluator=tone&runs=300');
  expect(screen.queryByRole('button', { name: 'correctness' })).toBeNull();
  await waitFor(() => expect(query()?.get('limit')).toBe('300'));
  expect(query()?.get('tag')).toBe('main');
  expect(query()?.get('since')).toMatch(/^\d{4}-\d\d-\d\d$/);
});

test('a single run shows that a trend needs two, and the next command', async () => {
  draw({ trends: POINTS.slice(0, 1) });
  expect(await screen.findByText(/A trend needs at least two runs/)).toBeVisible();
  expect(screen.getByText('cargo cobalt run')).toBeVisible();
});

test('without matching runs, the filters can be cleared', async () => {
  const { user, router } = draw({ trends: [] }, '&tag=main');
  await user.click(await screen.findByRole('button', { name: 'Clear filters' }));
  expect(router.state.location.search).toBe('?tab=trends');
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
