import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import { renderPage } from '../../test/render';
import { liveRun, runRow, runs } from '../../test/runs';
import { errorResponse, mockServer, mockServerDown } from '../../test/server';
import { setWidth } from '../../test/window';
import { Component as RunsPage } from '.';

const OLD = runRow({ id: 'old1', name: 'answers', timestamp: '2026-02-01T10:00:00.000Z', tags: ['nightly'] });
const NEW = runRow({ id: 'new1', name: 'answers', timestamp: '2026-02-05T10:00:00.000Z', verdict: 'failed' });
const OTHER = runRow({ id: 'oth1', name: 'summaries', timestamp: '2026-02-03T10:00:00.000Z' });

const show = (at = '/', live = [] as ReturnType<typeof liveRun>[]) =>
  renderPage(RunsPage, { at, path: '/', live });

/** What was asked of the list last. */
const lastAsked = (asked: URL[]) => Object.fromEntries(asked.at(-1)?.searchParams ?? []);

const row = async (id: string) => {
  const cell = await screen.findByText(id);
  return within(cell.closest('tr') as HTMLElement);
};

beforeEach(() => {
  setWidth(1440);
});

describe('the table', () => {
  test('shows what is known of a run', async () => {
    mockServer({
      '/api/runs': runs([
        runRow({
          failedItems: 2,
          evalErrors: 1,
          cost: 0.02,
          judgeCost: 0.03,
          gitCommit: '0123456789',
          gitDirty: true,
        }),
      ]),
    });
    show();
    const run = await row('a1b2c3');
    expect(run.getByRole('link', { name: 'answers' })).toHaveAttribute('href', '/runs/a1b2c3');
    expect(run.getByText('Passed')).toBeVisible();
    expect(run.getByText('0.900')).toBeVisible();
    expect(run.getByRole('img', { name: 'correctness over the last runs' })).toBeVisible();
    expect(run.getByTitle('2 items failed or timed out, 1 evaluation without a score')).toHaveTextContent(
      '3',
    );
    expect(run.getByTitle('Agent $0.020, judges $0.030')).toHaveTextContent('$0.050');
    expect(run.getByText('with changes that were not committed')).toBeInTheDocument();
  });

  test('keeps the evaluators that have no place behind a button', async () => {
    mockServer({ '/api/runs': runs([runRow({ avgScores: { a: 0.1, b: 0.2, c: 0.3, d: 0.4, e: 0.5 } })]) });
    const { user } = show();
    await user.hover(await screen.findByRole('button', { name: '2 more scores' }));
    expect(await screen.findByRole('tooltip')).toHaveTextContent('d0.400e0.500');
  });

  test('is sorted by what a header says, and turned round by the same', async () => {
    const asked = mockServer({ '/api/runs': runs([NEW, OLD]) });
    const { user, router } = show();
    await user.click(await screen.findByRole('button', { name: 'Duration' }));
    expect(router.state.location.search).toBe('?sort=duration');
    await waitFor(() => expect(lastAsked(asked)).toMatchObject({ sort: 'duration', order: 'desc' }));
    expect(screen.getByRole('columnheader', { name: 'Duration' })).toHaveAttribute('aria-sort', 'descending');

    await user.click(screen.getByRole('button', { name: 'Duration' }));
    await waitFor(() => expect(lastAsked(asked)).toMatchObject({ sort: 'duration', order: 'asc' }));
    expect(screen.getByRole('columnheader', { name: 'Duration' })).toHaveAttribute('aria-sort', 'ascending');
  });

  test('opens a run where its row is clicked', async () => {
    mockServer({ '/api/runs': runs([NEW]) });
    const { user, router } = show();
    await user.click(await screen.findByText('Failed', { selector: 'td *' }));
    expect(router.state.location.pathname).toBe('/runs/new1');
  });

  test('is moved through, picked from and opened by keys', async () => {
    mockServer({ '/api/runs': runs([NEW, OLD]) });
    const { user, router } = show();
    await screen.findByText('new1');
    await user.keyboard('j');
    await waitFor(() => expect(document.activeElement).toHaveAttribute('href', '/runs/new1'));
    await user.keyboard('j');
    await waitFor(() => expect(document.activeElement).toHaveAttribute('href', '/runs/old1'));
    await user.keyboard('x');
    expect(screen.getByRole('checkbox', { name: 'Pick answers, old1, to compare' })).toBeChecked();
    await user.keyboard('{Enter}');
    expect(router.state.location.pathname).toBe('/runs/old1');
  });

  test('draws only some of a thousand runs', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => runRow({ id: `run${index}` }));
    mockServer({ '/api/runs': runs(many) });
    show();
    await screen.findByText('run0');
    expect(screen.getAllByRole('checkbox').length).toBeLessThan(60);
    expect(screen.getByRole('table', { name: 'Runs' })).toHaveAttribute('aria-rowcount', '1001');
  });
});

describe('filters', () => {
  test('come from the address, and are asked of the server', async () => {
    const asked = mockServer({ '/api/runs': runs([OLD], { known: 3 }) });
    show('/?experiment=answers&verdict=passed&tag=nightly&since=2026-02-01&search=main&sort=nonsense');
    expect(await screen.findByText('1 of 3 runs')).toBeVisible();
    expect(lastAsked(asked)).toEqual({
      experiment: 'answers',
      verdict: 'passed',
      tag: 'nightly',
      since: new Date('2026-02-01T00:00').toISOString(),
      search: 'main',
      sort: 'timestamp',
      order: 'desc',
      recent: '12',
      limit: '100',
      offset: '0',
    });
    expect(screen.getByRole('combobox', { name: 'Verdict' })).toHaveValue('passed');
  });

  test('go into the address', async () => {
    mockServer({ '/api/runs': runs([NEW, OLD, OTHER]) });
    const { user, router } = show();
    await screen.findByRole('option', { name: 'summaries (1)' });
    await user.selectOptions(screen.getByRole('combobox', { name: 'Experiment' }), 'summaries');
    await user.type(screen.getByRole('searchbox'), 'abc');
    await waitFor(() => expect(router.state.location.search).toBe('?experiment=summaries&search=abc'));
  });

  test('are taken back one by one', async () => {
    mockServer({ '/api/runs': runs([NEW]) });
    const { user, router } = show('/?verdict=failed&tag=nightly');
    await user.click(await screen.findByRole('button', { name: 'Remove the filter Failed' }));
    expect(router.state.location.search).toBe('?tag=nightly');
  });

  test('that leave nothing can be cleared at once', async () => {
    mockServer({ '/api/runs': runs([], { known: 3 }) });
    const { user, router } = show('/?search=zzz&sort=cost');
    await user.click(await screen.findByRole('button', { name: 'Clear all filters' }));
    expect(router.state.location.search).toBe('?sort=cost');
  });
});

describe('picked runs', () => {
  test('are compared with the oldest as the baseline', async () => {
    mockServer({ '/api/runs': runs([NEW, OTHER, OLD]) });
    const { user } = show();
    await user.click(await screen.findByRole('checkbox', { name: 'Pick answers, new1, to compare' }));
    expect(screen.getByText('Pick another run to compare')).toBeVisible();
    await user.click(screen.getByRole('checkbox', { name: 'Pick answers, old1, to compare' }));
    const link = screen.getByRole('link', { name: 'Compare 2 runs' });
    expect(link).toHaveAttribute('href', '/compare?a=old1&b=new1');
    expect(screen.queryByText('Of different experiments')).not.toBeInTheDocument();

    await user.click(screen.getByRole('checkbox', { name: 'Pick summaries, oth1, to compare' }));
    expect(screen.getByRole('link', { name: 'Compare 3 runs' })).toHaveAttribute(
      'href',
      '/compare?a=old1&b=oth1&c=new1',
    );
    expect(screen.getByText('Of different experiments')).toBeVisible();
  });

  test('are three at most', async () => {
    const four = runRow({ id: 'four' });
    mockServer({ '/api/runs': runs([NEW, OTHER, OLD, four]) });
    show('/?picked=new1,oth1,old1');
    expect(await screen.findByRole('checkbox', { name: 'Pick answers, four, to compare' })).toBeDisabled();
  });

  test('that the list does not show are asked for', async () => {
    mockServer({ '/api/runs': runs([NEW]), '/api/runs/old1/overview': { run: { ...OLD } } });
    show('/?picked=new1,old1');
    const link = await screen.findByRole('link', { name: 'Compare 2 runs' });
    expect(link).toHaveAttribute('href', '/compare?a=old1&b=new1');
  });
});

describe('runs that have not ended', () => {
  test('show how far they are', async () => {
    mockServer({ '/api/runs': runs([NEW]) });
    show('/', [liveRun()]);
    const progress = await screen.findByRole('progressbar', { name: 'Progress of answers' });
    expect(progress).toHaveAttribute('aria-valuenow', '10');
    const live = within(screen.getByRole('region', { name: 'Runs that have not ended' }));
    expect(live.getByText('10 of 40 items')).toBeVisible();
    expect(live.getByText('0.750')).toBeVisible();
    expect(live.getByText('12.0 s')).toBeVisible();
  });

  test('say how to take them up again where they were cut off', async () => {
    mockServer({ '/api/runs': runs([NEW]) });
    show('/', [liveRun({ id: 'cut1', state: 'cut-off' })]);
    expect(await screen.findByText('cargo cobalt run --resume cut1')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Copy the command' })).toBeVisible();
  });
});

describe('where there is nothing to list', () => {
  test('an empty store says what to run', async () => {
    mockServer({ '/api/runs': runs([]) });
    show();
    expect(await screen.findByText('cargo cobalt init')).toBeVisible();
    expect(screen.getByText('cargo cobalt run')).toBeVisible();
    expect(screen.queryByRole('searchbox')).not.toBeInTheDocument();
  });

  test('an error is told, and can be tried again', async () => {
    mockServer({ '/api/runs': errorResponse(500, 'the results folder cannot be read') });
    const { user } = show();
    expect(await screen.findByRole('alert')).toHaveTextContent('the results folder cannot be read');
    mockServer({ '/api/runs': runs([NEW]) });
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('new1')).toBeVisible();
  });

  test('a server that is not there is told', async () => {
    mockServerDown();
    show();
    expect(await screen.findByRole('alert')).toHaveTextContent('The server does not answer');
  });

  test('files that could not be read are named with their reasons', async () => {
    mockServer({
      '/api/runs': runs([NEW], { skipped: [{ file: 'broken.json', reason: 'it ends too early' }] }),
    });
    show();
    expect(await screen.findByText('1 file could not be read and is left out')).toBeVisible();
    expect(screen.getByText('it ends too early')).toBeInTheDocument();
  });
});

test('a narrow window has cards instead of a table', async () => {
  setWidth(390);
  mockServer({ '/api/runs': runs([NEW]) });
  show();
  expect(await screen.findByRole('list', { name: 'Runs' })).toBeVisible();
  expect(screen.queryByRole('table')).not.toBeInTheDocument();
  expect(screen.getByRole('combobox', { name: 'Sort by' })).toHaveValue('timestamp');
});
