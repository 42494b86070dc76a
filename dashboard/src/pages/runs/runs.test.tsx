import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import { choose } from '../../test/choose';
import { renderPage } from '../../test/render';
import { liveRun, runRow, runs } from '../../test/runs';
import { errorResponse, mockServer, mockServerDown } from '../../test/server';
import { setWidth } from '../../test/window';
import { AllRuns as RunsPage } from './all-runs';

const OLD = runRow({ id: 'old1', name: 'answers', timestamp: '2026-02-01T10:00:00.000Z', tags: ['nightly'] });
const NEW = runRow({ id: 'new1', name: 'answers', timestamp: '2026-02-05T10:00:00.000Z', verdict: 'failed' });
const OTHER = runRow({ id: 'oth1', name: 'summaries', timestamp: '2026-02-03T10:00:00.000Z' });

const show = (at = '/', live = [] as ReturnType<typeof liveRun>[]) =>
  renderPage(RunsPage, { at, path: '/', live });

/** The parameters of the latest request. */
const lastQuery = (requests: URL[]) => Object.fromEntries(requests.at(-1)?.searchParams ?? []);

const row = async (id: string) => {
  const cell = await screen.findByText(id);
  return within(cell.closest('tr') as HTMLElement);
};

beforeEach(() => {
  setWidth(1440);
});

describe('the table', () => {
  test('the total cost has that of simulated users', async () => {
    mockServer({ '/api/runs': runs([runRow({ cost: 0.02, userCost: 0.03 })]) });
    show();
    const run = await row('a1b2c3');
    const parts = 'Agent cost $0.020, judge cost unknown, user cost $0.030';
    expect(run.getByTitle(parts)).toHaveTextContent('$0.050');
  });

  test('shows the values of a run', async () => {
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
    expect(
      run.getByRole('img', { name: 'correctness over the latest runs, on a scale from 0 to 1' }),
    ).toBeVisible();
    expect(run.getByTitle('2 items failed or timed out, 1 scoring error')).toHaveTextContent('3');
    expect(run.getByTitle('Agent cost $0.020, judge cost $0.030')).toHaveTextContent('$0.050');
    expect(run.getByText('uncommitted changes')).toBeInTheDocument();
  });

  test('marks a run with replayed items', async () => {
    mockServer({ '/api/runs': runs([runRow({ replayedItems: 10 }), OLD]) });
    show();
    const mark = (await row('a1b2c3')).getByText('replayed');
    expect(mark).toHaveAttribute(
      'title',
      expect.stringMatching(/^10 of 12 items replayed\. .*of the recording/),
    );
    expect((await row('old1')).queryByText('replayed')).toBeNull();
  });

  test('shows the scores without a column in a tooltip', async () => {
    mockServer({ '/api/runs': runs([runRow({ avgScores: { a: 0.1, b: 0.2, c: 0.3, d: 0.4, e: 0.5 } })]) });
    const { user } = show();
    await user.hover(await screen.findByRole('button', { name: '2 more scores' }));
    expect(await screen.findByRole('tooltip')).toHaveTextContent('d0.400e0.500');
  });

  test('is sorted by a header, which also reverses the order', async () => {
    const requests = mockServer({ '/api/runs': runs([NEW, OLD]) });
    const { user, router } = show();
    await user.click(await screen.findByRole('button', { name: 'Duration' }));
    expect(router.state.location.search).toBe('?sort=duration');
    await waitFor(() => expect(lastQuery(requests)).toMatchObject({ sort: 'duration', order: 'desc' }));
    expect(screen.getByRole('columnheader', { name: 'Duration' })).toHaveAttribute('aria-sort', 'descending');

    await user.click(screen.getByRole('button', { name: 'Duration' }));
    await waitFor(() => expect(lastQuery(requests)).toMatchObject({ sort: 'duration', order: 'asc' }));
    expect(screen.getByRole('columnheader', { name: 'Duration' })).toHaveAttribute('aria-sort', 'ascending');
  });

  test('opens a run on a click on its row', async () => {
    mockServer({ '/api/runs': runs([NEW]) });
    const { user, router } = show();
    await user.click(await screen.findByText('Failed', { selector: 'td *' }));
    expect(router.state.location.pathname).toBe('/runs/new1');
  });

  test('supports moving, selecting and opening by keyboard', async () => {
    mockServer({ '/api/runs': runs([NEW, OLD]) });
    const { user, router } = show();
    await screen.findByText('new1');
    await user.keyboard('j');
    await waitFor(() => expect(document.activeElement).toHaveAttribute('href', '/runs/new1'));
    await user.keyboard('j');
    await waitFor(() => expect(document.activeElement).toHaveAttribute('href', '/runs/old1'));
    await user.keyboard('x');
    expect(screen.getByRole('checkbox', { name: 'Select answers (old1)' })).toBeChecked();
    await user.keyboard('{Enter}');
    expect(router.state.location.pathname).toBe('/runs/old1');
  });

  test('renders only some of a thousand runs', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => runRow({ id: `run${index}` }));
    mockServer({ '/api/runs': runs(many) });
    show();
    await screen.findByText('run0');
    expect(screen.getAllByRole('checkbox').length).toBeLessThan(60);
    expect(screen.getByRole('table', { name: 'Runs' })).toHaveAttribute('aria-rowcount', '1001');
  });
});

describe('filters', () => {
  test('are read from the URL and sent to the server', async () => {
    const requests = mockServer({ '/api/runs': runs([OLD], { known: 3 }) });
    show('/?experiment=answers&verdict=passed&tag=nightly&since=2026-02-01&search=main&sort=nonsense');
    expect(await screen.findByText('1 of 3 runs')).toBeVisible();
    expect(lastQuery(requests)).toEqual({
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
    expect(screen.getByRole('combobox', { name: 'Verdict' })).toHaveTextContent('Passed');
  });

  test('are written to the URL', async () => {
    mockServer({ '/api/runs': runs([NEW, OLD, OTHER]) });
    const { user, router } = show();
    await choose(user, 'Experiment', 'summaries (1)');
    await user.type(screen.getByRole('searchbox'), 'abc');
    await waitFor(() => expect(router.state.location.search).toBe('?experiment=summaries&search=abc'));
  });

  test('can be removed one by one', async () => {
    mockServer({ '/api/runs': runs([NEW]) });
    const { user, router } = show('/?verdict=failed&tag=nightly');
    await user.click(await screen.findByRole('button', { name: 'Remove filter Failed' }));
    expect(router.state.location.search).toBe('?tag=nightly');
  });

  test('that match no run can be cleared together', async () => {
    mockServer({ '/api/runs': runs([], { known: 3 }) });
    const { user, router } = show('/?search=zzz&sort=cost');
    expect(await screen.findByText('No runs match these filters')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Clear all filters' }));
    expect(router.state.location.search).toBe('?sort=cost');
  });
});

describe('selected runs', () => {
  test('are compared with the oldest as the reference', async () => {
    mockServer({ '/api/runs': runs([NEW, OTHER, OLD]) });
    const { user } = show();
    await user.click(await screen.findByRole('checkbox', { name: 'Select answers (new1)' }));
    expect(screen.getByText('Select another run to compare')).toBeVisible();
    await user.click(screen.getByRole('checkbox', { name: 'Select answers (old1)' }));
    const link = screen.getByRole('link', { name: 'Compare 2 runs' });
    expect(link).toHaveAttribute('href', '/runs/new1?compare=old1');
    expect(screen.getByText(/, reference$/)).toBeVisible();
    expect(screen.queryByText('Different experiments')).not.toBeInTheDocument();

    await user.click(screen.getByRole('checkbox', { name: 'Select summaries (oth1)' }));
    expect(screen.getByRole('link', { name: 'Compare 3 runs' })).toHaveAttribute(
      'href',
      '/runs/new1?compare=old1,oth1',
    );
    expect(screen.getByText('Different experiments')).toBeVisible();
  });

  test('are compared if they are at most eight', async () => {
    const rows = Array.from({ length: 9 }, (_, index) => runRow({ id: `run${index}` }));
    mockServer({ '/api/runs': runs(rows) });
    const ids = rows.slice(0, 8).map((run) => run.id);
    const { user } = show(`/?picked=${ids.join()}`);
    const link = await screen.findByRole('link', { name: 'Compare 8 runs' });
    expect(link).toHaveAttribute('href', `/runs/run7?compare=${ids.slice(0, 7).join()}`);
    await user.click(screen.getByRole('checkbox', { name: 'Select answers (run8)' }));
    expect(screen.getByText('9 runs selected')).toBeVisible();
    expect(screen.getByText('You can compare up to eight runs')).toBeVisible();
    expect(screen.queryByRole('link', { name: /Compare/ })).not.toBeInTheDocument();
  });

  test('of a variant link to its group, and re-scored ones are marked', async () => {
    const variant = { experiment: 'answers', name: 'mini', group: 'abc123' };
    mockServer({
      '/api/runs': runs([
        { ...NEW, variant },
        { ...OLD, rescoredFrom: 'new1' },
      ]),
    });
    show();
    const link = await screen.findByRole('link', { name: 'all variants beside mini' });
    expect(link).toHaveAttribute('href', '/groups/abc123');
    expect(screen.getByText('re-scored')).toBeVisible();
  });

  test('that are not in the list are loaded', async () => {
    mockServer({ '/api/runs': runs([NEW]), '/api/runs/old1/overview': { run: { ...OLD } } });
    show('/?picked=new1,old1');
    const link = await screen.findByRole('link', { name: 'Compare 2 runs' });
    expect(link).toHaveAttribute('href', '/runs/new1?compare=old1');
  });
});

describe('unfinished runs', () => {
  test('show their progress', async () => {
    mockServer({ '/api/runs': runs([NEW]) });
    show('/', [liveRun()]);
    const progress = await screen.findByRole('progressbar', { name: 'Progress of answers' });
    expect(progress).toHaveAttribute('aria-valuenow', '10');
    const live = within(screen.getByRole('region', { name: 'Unfinished runs' }));
    expect(live.getByText('10 of 40 items')).toBeVisible();
    expect(live.getByText('0.750')).toBeVisible();
    expect(live.getByText('12.0 s')).toBeVisible();
  });

  test('that were interrupted show how to resume them', async () => {
    mockServer({ '/api/runs': runs([NEW]) });
    show('/', [liveRun({ id: 'cut1', state: 'cut-off' })]);
    expect(await screen.findByText('cargo cobalt run --resume cut1')).toBeVisible();
    expect(screen.getByText('Interrupted')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Copy the command' })).toBeVisible();
  });
});

describe('without runs to list', () => {
  test('an empty store shows the commands to start with', async () => {
    mockServer({ '/api/runs': runs([]) });
    show();
    expect(await screen.findByText('cargo cobalt init')).toBeVisible();
    expect(screen.getByText('cargo cobalt run')).toBeVisible();
    expect(screen.queryByRole('searchbox')).not.toBeInTheDocument();
  });

  test('an error is shown and can be retried', async () => {
    mockServer({ '/api/runs': errorResponse(500, 'the results folder cannot be read') });
    const { user } = show();
    expect(await screen.findByRole('alert')).toHaveTextContent('the results folder cannot be read');
    mockServer({ '/api/runs': runs([NEW]) });
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('new1')).toBeVisible();
  });

  test('an unreachable server is reported', async () => {
    mockServerDown();
    show();
    expect(await screen.findByRole('alert')).toHaveTextContent("Can't reach the server");
  });

  test('unreadable files are listed with the reasons', async () => {
    mockServer({
      '/api/runs': runs([NEW], { skipped: [{ file: 'broken.json', reason: 'it ends too early' }] }),
    });
    show();
    expect(await screen.findByText('Skipped 1 unreadable file')).toBeVisible();
    expect(screen.getByText('it ends too early')).toBeInTheDocument();
  });
});

test('a narrow window shows cards instead of a table', async () => {
  setWidth(390);
  mockServer({ '/api/runs': runs([NEW]) });
  show();
  expect(await screen.findByRole('list', { name: 'Runs' })).toBeVisible();
  expect(screen.queryByRole('table')).not.toBeInTheDocument();
  expect(screen.getByRole('combobox', { name: 'Sort by' })).toHaveTextContent('Started');
});
