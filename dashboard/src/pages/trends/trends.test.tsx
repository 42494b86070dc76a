import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { TrendPoint, Trends } from '../../api/types';
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
  const asked = mockServer({
    '/api/runs': runs([runRow()], {
      experiments: [
        { name: 'answers', runs: 3 },
        { name: 'others', runs: 1 },
      ],
    }),
    '/api/trends': { trends: POINTS, thresholds: [THRESHOLD], ...given },
  });
  return { asked, ...renderPage(Component, { at, path: '/trends' }) };
};

// Charts are drawn where there is room alone.
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 800, 320));
});

test('the experiment of the newest run is shown until another is chosen', async () => {
  const { asked, user, router } = draw();
  const field = await screen.findByRole('combobox', { name: 'Experiment' });
  await waitFor(() => expect(asked.at(-1)?.searchParams.get('experiment')).toBe('answers'));
  await user.selectOptions(field, 'others');
  expect(router.state.location.search).toBe('?experiment=others');
  await waitFor(() => expect(asked.at(-1)?.searchParams.get('experiment')).toBe('others'));
});

test('the table has all runs, the newest first, with changes and marks', async () => {
  draw();
  const table = within(await screen.findByRole('region', { name: 'The runs of the charts' }));
  const rows = table.getAllByRole('row').slice(1);
  expect(rows.map((row) => within(row).getByRole('link').getAttribute('href'))).toEqual([
    '/runs/ccc',
    '/runs/bbb',
    '/runs/aaa',
  ]);
  expect(rows[0]).toHaveTextContent('0.750+0.050');
  expect(rows[1]).toHaveTextContent('0.700−0.200');
  expect(rows[1]).toHaveTextContent('other data');
  expect(rows[1]).toHaveTextContent('Failed');
  expect(rows[2]).not.toHaveTextContent('other data');
});

test('the table of many runs begins with the newest thirty', async () => {
  const many = Array.from({ length: 45 }, (_, index) => point({ id: `run${index}` }));
  const { user } = draw({ trends: many });
  const table = within(await screen.findByRole('region', { name: 'The runs of the charts' }));
  expect(table.getAllByRole('row')).toHaveLength(31);
  await user.click(screen.getByRole('button', { name: 'Show all 45 runs' }));
  expect(table.getAllByRole('row')).toHaveLength(46);
});

test('lines are hidden and shown by their names, which the address keeps', async () => {
  const { user, router } = draw();
  const tone = await screen.findByRole('button', { name: 'tone' });
  expect(tone).toHaveAttribute('aria-pressed', 'true');
  await user.click(tone);
  expect(router.state.location.search).toBe('?hide=tone');
  expect(tone).toHaveAttribute('aria-pressed', 'false');
  await user.click(tone);
  expect(router.state.location.search).toBe('');
});

test('an address that nobody could have made hides nothing', async () => {
  draw({}, '/trends?hide=%25');
  expect(await screen.findByRole('button', { name: 'tone' })).toHaveAttribute('aria-pressed', 'true');
});

test('an evaluator that no run has leaves all of them', async () => {
  draw({}, '/trends?evaluator=gone');
  expect(await screen.findByRole('columnheader', { name: 'tone' })).toBeVisible();
});

test('an evaluator may be called what every object has', () => {
  const [series] = scoreSeries(['constructor']);
  expect(series?.value(point())).toBeUndefined();
});

test('thresholds are drawn and named, those of hidden lines are not', async () => {
  const { container, user } = draw();
  const named = await screen.findByRole('list', { name: 'Thresholds' });
  expect(named).toHaveTextContent('correctness.avg>=0.6');
  await waitFor(() => expect(container.querySelector('.recharts-reference-line-line')).toBeTruthy());
  await user.click(screen.getByRole('button', { name: 'correctness' }));
  expect(screen.queryByRole('list', { name: 'Thresholds' })).toBeNull();
});

test('an evaluator, a tag, a range and a number of runs can be chosen', async () => {
  const { asked, user, router } = draw({}, '/trends?tag=main&range=7d');
  await screen.findByRole('option', { name: 'tone' });
  await user.selectOptions(screen.getByRole('combobox', { name: 'Evaluator' }), 'tone');
  await user.selectOptions(screen.getByRole('combobox', { name: 'How many runs' }), 'Newest 300 runs');
  expect(router.state.location.search).toBe('?tag=main&range=7d&evaluator=tone&runs=300');
  expect(screen.queryByRole('columnheader', { name: 'correctness' })).toBeNull();
  await waitFor(() => expect(asked.at(-1)?.searchParams.get('limit')).toBe('300'));
  expect(asked.at(-1)?.searchParams.get('tag')).toBe('main');
  expect(asked.at(-1)?.searchParams.get('since')).toMatch(/^\d{4}-\d\d-\d\d$/);
});

test('one run makes no trend, and the next command is told', async () => {
  draw({ trends: POINTS.slice(0, 1) });
  expect(await screen.findByText(/One run makes no trend yet/)).toBeVisible();
  expect(screen.getByText('cargo cobalt run')).toBeVisible();
});

test('where no run matches, the choice can be undone', async () => {
  const { user, router } = draw({ trends: [] }, '/trends?tag=main');
  await user.click(await screen.findByRole('button', { name: 'Show runs of any tag and time' }));
  expect(router.state.location.search).toBe('');
});

test('without any run, the command that makes one is told', async () => {
  mockServer({ '/api/runs': runs([]) });
  renderPage(Component, { at: '/trends' });
  expect(await screen.findByText('There are no runs yet')).toBeVisible();
  expect(screen.getByText('cargo cobalt run')).toBeVisible();
});

test('runs stand evenly, or as they lie in time', () => {
  expect(plotRuns(POINTS, 'runs').map(({ x }) => x)).toEqual([0, 1, 2]);
  expect(plotRuns(POINTS, 'time')[0]?.x).toBe(Date.parse('2026-02-05T10:00:00.000Z'));
});

test('other data is marked where both runs tell theirs', () => {
  const unknown = [point({ datasetHash: undefined }), ...POINTS];
  expect(plotRuns(unknown, 'runs').map(({ datasetChanged: isOtherData }) => isOtherData)).toEqual([
    false,
    false,
    true,
    false,
  ]);
});

test('a change needs both figures', () => {
  const [first, second] = plotRuns([point({ scores: {} }), point()], 'runs');
  const [series] = scoreSeries(['correctness']);
  expect(series && first && changeFromPrevious(series, first)).toBeUndefined();
  expect(series && second && changeFromPrevious(series, second)).toBeUndefined();
});

test('thresholds of all scores are drawn with any evaluator', () => {
  const all = { ...THRESHOLD, evaluator: undefined };
  expect(scoreThresholds([THRESHOLD, all], ['tone'])).toEqual([all]);
});

test('the axis of scores begins below the lowest of them, and of the thresholds', () => {
  const drawn = plotRuns([point()], 'runs');
  expect(scoreTicks(drawn, scoreSeries(['tone']), [])[0]).toBe(0.7);
  expect(scoreTicks(drawn, scoreSeries(['tone']), [THRESHOLD])).toEqual([0.5, 0.6, 0.7, 0.8, 0.9, 1]);
});
