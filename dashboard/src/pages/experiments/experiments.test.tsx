import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import { baselineChange, experimentRow, recentRun } from '../../test/experiments';
import { renderPage } from '../../test/render';
import { liveRun, runRow, runs } from '../../test/runs';
import { errorResponse, mockServer } from '../../test/server';
import { setWidth } from '../../test/window';
import { Component } from '.';

const FAILED = experimentRow({
  latest: runRow({
    id: 'new1',
    name: 'answers',
    verdict: 'failed',
    totalItems: 96,
    passedItems: 44,
    lowItems: 50,
    failedItems: 2,
    cost: 0.0015,
    judgeCost: 0.1365,
  }),
  recent: [recentRun('old1', 0.9), recentRun('old2', 0.91), recentRun('new1', 0.8)],
  change: baselineChange(),
});
const OTHER = experimentRow({
  latest: runRow({ id: 'oth1', name: 'summaries', timestamp: '2026-02-03T10:00:00.000Z', cost: 2 }),
  recent: [recentRun('oth1', 0.9)],
});

const show = (experiments = [FAILED, OTHER], at = '/', live = [] as ReturnType<typeof liveRun>[]) => {
  const requests = mockServer({
    '/api/experiments': { experiments },
    '/api/runs': runs([FAILED.latest, OTHER.latest]),
  });
  return { requests, ...renderPage(Component, { at, path: '/', live }) };
};

const row = async (name: string) => {
  const link = await screen.findByRole('link', { name });
  return within(link.closest('tr') as HTMLElement);
};

/** The experiments in their order. */
const names = () =>
  screen
    .getAllByRole('row')
    .slice(1)
    .map((row) => row.querySelector('[data-row]')?.getAttribute('data-row'));

beforeEach(() => {
  setWidth(1440);
});

test('a row has the verdict and the metrics of the latest run', async () => {
  show();
  const answers = await row('answers');
  expect(answers.getByRole('link', { name: 'answers' })).toHaveAttribute('href', '/experiments/answers');
  expect(answers.getByText('34 runs')).toBeVisible();
  const latest = answers.getByRole('link', { name: /^Latest run: Failed 2026-02-05 \d\d:00$/ });
  expect(latest).toHaveAttribute('href', '/runs/new1');
  expect(answers.getByText('50 below')).toBeVisible();
  expect(answers.getByText('2 errors')).toBeVisible();
  expect(answers.getByText('310 ms')).toBeVisible();
  // Both costs have the same precision.
  expect(answers.getByText('agent').nextSibling).toHaveTextContent('$0.0015');
  expect(answers.getByText('total').nextSibling).toHaveTextContent('$0.1380');
});

test('the regressions against the run before are one click away', async () => {
  show();
  const link = (await row('answers')).getByRole('link', { name: 'Compare with previous' });
  expect(link).toHaveAttribute('href', '/runs/new1?compare=old2&only=regressed');
  expect((await row('summaries')).queryByRole('link', { name: 'Compare with previous' })).toBeNull();
});

test('the line of the latest scores names its scale', async () => {
  show();
  const line = (await row('answers')).getByRole('img');
  expect(line).toHaveAccessibleName(
    'Mean of the scores in the latest 3 runs, with its 95% CI, on a scale from 0.7 to 1',
  );
  expect((await row('summaries')).getByText('(1 run)').parentElement).toHaveTextContent('0.900 (1 run)');
});

test('changes against the baseline have their verdict, regressions first', async () => {
  show();
  const answers = await row('answers');
  const [first, second] = answers.getAllByRole('listitem');
  expect(first).toHaveTextContent('correctness−0.042Regressed');
  expect(first).toHaveAttribute('title', '95% CI −0.070 to −0.010');
  expect(second).toHaveTextContent('tone+0.004Within noise');
  expect((await row('summaries')).getByText('Not compared with a baseline')).toBeVisible();
});

test('the changes of many scores are in a tooltip', async () => {
  const scores = Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [name, { change: 0.1, verdict: 'better' as const }]),
  );
  const { user } = show([{ ...FAILED, change: baselineChange({ scores }) }]);
  const more = (await row('answers')).getByRole('button', { name: '2 more scores' });
  await user.hover(more);
  expect(await screen.findByRole('tooltip')).toHaveTextContent('d+0.100Improved');
});

test('a latest run that is the baseline has no change', async () => {
  show([{ ...FAILED, change: null, latest: { ...FAILED.latest, isBaseline: true } }]);
  expect(await screen.findByText('The latest run is the baseline')).toBeVisible();
});

test('experiments are searched and sorted, which the URL keeps', async () => {
  const { user, router } = show();
  await row('answers');
  expect(names()).toEqual(['answers', 'summaries']);
  await user.click(screen.getByRole('button', { name: 'Costs' }));
  expect(names()).toEqual(['summaries', 'answers']);
  await user.click(screen.getByRole('button', { name: 'Costs' }));
  expect(names()).toEqual(['answers', 'summaries']);
  expect(router.state.location.search).toBe('?sort=cost&order=asc');
  expect(screen.getByRole('columnheader', { name: 'Costs' })).toHaveAttribute('aria-sort', 'ascending');

  await user.type(screen.getByRole('searchbox', { name: 'Search experiments' }), 'SUMM');
  await waitFor(() => expect(names()).toEqual(['summaries']));
  expect(screen.getByText('1 of 2 experiments')).toBeVisible();
  await user.type(screen.getByRole('searchbox'), 'zzz');
  expect(await screen.findByRole('heading', { name: 'No experiments match this search' })).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Clear the search' }));
  expect(router.state.location.search).toBe('?sort=cost&order=asc');
});

test('j and k move between the experiments without a focus, and a click on a row opens one', async () => {
  const { user, router } = show();
  await row('answers');
  await user.keyboard('jj');
  await waitFor(() => expect(document.activeElement).toHaveAttribute('href', '/experiments/summaries'));
  await user.keyboard('k');
  await waitFor(() => expect(document.activeElement).toHaveAttribute('href', '/experiments/answers'));
  await user.click(screen.getByText('50 below'));
  expect(router.state.location.pathname).toBe('/experiments/answers');
});

test('only some of hundreds of experiments are rendered', async () => {
  const many = Array.from({ length: 400 }, (_, index) => experimentRow({ name: `experiment ${index}` }));
  show(many);
  await screen.findByText('400 experiments');
  expect(screen.getAllByRole('row').length).toBeLessThan(60);
  expect(screen.getByRole('table')).toHaveAttribute('aria-rowcount', '401');
});

test('runs in progress are on top', async () => {
  show([FAILED], '/', [liveRun()]);
  expect(await screen.findByRole('progressbar', { name: 'Progress of answers' })).toBeVisible();
});

test('without experiments, the commands to start with are shown', async () => {
  mockServer({ '/api/experiments': { experiments: [] }, '/api/runs': runs([]) });
  renderPage(Component, { at: '/', path: '/' });
  expect(await screen.findByRole('heading', { name: 'No runs yet' })).toBeVisible();
  expect(screen.getByText('cargo cobalt run')).toBeVisible();
  expect(screen.queryByRole('searchbox')).not.toBeInTheDocument();
});

test('an error can be retried', async () => {
  mockServer({ '/api/experiments': errorResponse(500, 'the results folder cannot be read') });
  const { user } = renderPage(Component, { at: '/', path: '/' });
  expect(await screen.findByRole('alert')).toHaveTextContent('the results folder cannot be read');
  mockServer({ '/api/experiments': { experiments: [FAILED] } });
  await user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('link', { name: 'answers' })).toBeVisible();
});

test('all runs are a view of the same page', async () => {
  show(undefined, '/?view=runs');
  expect(await screen.findByRole('table', { name: 'Runs' })).toBeVisible();
  expect(screen.getByRole('heading', { level: 1, name: 'All runs' })).toBeInTheDocument();
});

test('a narrow window shows cards instead of a table', async () => {
  setWidth(390);
  const { user, router } = show();
  expect(await screen.findByRole('list', { name: 'Experiments' })).toBeVisible();
  expect(screen.queryByRole('table')).not.toBeInTheDocument();
  await user.click(screen.getByRole('button', { name: 'Descending; switch to ascending' }));
  expect(router.state.location.search).toBe('?order=asc');
});
