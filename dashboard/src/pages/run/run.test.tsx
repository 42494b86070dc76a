import { render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Overview, ThresholdOutcome } from '../../api/types';
import { choose } from '../../test/choose';
import { comparison } from '../../test/comparison';
import { userUsage } from '../../test/conversation';
import { mockLayout } from '../../test/layout';
import { renderPage } from '../../test/render';
import { itemRow, items, overview, report, traffic, wholeItem } from '../../test/run';
import { liveRun } from '../../test/runs';
import { errorResponse, mockServer } from '../../test/server';
import { Component } from '.';
import { Histogram } from './histogram';

const RUN = '/api/runs/a1b2c3';

beforeEach(() => mockLayout());

function open(given: Partial<Overview> = {}, { at = '', matching = 12, live = [liveRun()] } = {}) {
  const requests = mockServer({
    [`${RUN}/overview`]: overview(given),
    [`${RUN}/items`]: items(matching),
    [`${RUN}/items/key-0`]: wholeItem(0),
    [`${RUN}/items/key-1`]: wholeItem(1),
  });
  return { requests, ...renderPage(Component, { at: `/runs/a1b2c3${at}`, path: '/runs/:id', live }) };
}

const threshold = (given: Partial<ThresholdOutcome>): ThresholdOutcome => ({
  name: 'score.avg>=0.8',
  finding: 'met',
  passed: true,
  actual: 0.9,
  figure: '0.900',
  message: 'score.avg is 0.9',
  ...given,
});

describe('a run', () => {
  test('each threshold has its bound, actual value and result', async () => {
    const thresholds = [
      threshold({}),
      threshold({ name: 'cost.total<=1', finding: 'missed', passed: false, figure: '$2', actual: 2 }),
      threshold({
        name: 'tokens.total<=9',
        finding: 'missed',
        passed: false,
        actual: null,
        figure: null,
        message: 'no tokens',
      }),
      threshold({
        name: 'vs_baseline.score.drop<=0.02',
        finding: 'inconclusive',
        againstBaseline: true,
        message: 'noise',
      }),
    ];
    const ciStatus = { passed: false, summary: '2 missed', violations: [], thresholds };
    open({ run: report({ passed: false, ciStatus, pooled: ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'] }) });
    expect(await screen.findByText(/^Pooled with 2 earlier runs of this commit/)).toBeVisible();
    const table = await screen.findByRole('table', { name: 'Thresholds' });
    for (const name of ['Threshold', 'Actual', 'Result'])
      expect(within(table).getByRole('columnheader', { name })).toBeVisible();
    const row = (name: RegExp) => within(table).getByRole('row', { name });
    expect(row(/score.avg ≥ 0.8 0.900/)).toHaveTextContent('Met');
    expect(row(/cost.total ≤ 1 \$2/)).toHaveTextContent('Missed');
    expect(row(/tokens.total ≤ 9/)).toHaveTextContent('Nothing to measure');
    expect(row(/vs_baseline.score.drop ≤ 0.02/)).toHaveTextContent('Inconclusive');
    expect(within(table).getByText('noise')).toBeVisible();
  });

  test('metrics and tables of the run are shown, if there are any', async () => {
    const stats = { avg: 7.25, min: 1, max: 9, p50: 8, p95: 9, p99: 9, total: 87, count: 12 };
    const summary = {
      ...report().summary,
      metrics: { retrieved: { ...stats, unit: 'documents', ci95: { low: 6.1, high: 8.4 } } },
      runMetrics: {
        macro_f1: { value: 0.7132, ci95: { low: 0.65, high: 0.77 } },
        kappa: { value: 0.5, note: 'fewer than 2 clusters' },
      },
      tables: {
        confusion: {
          label: 'expected',
          columns: ['yes', 'no'],
          rows: [['yes', [1200, 3]] as [string, number[]]],
        },
      },
    };
    open({ run: report({ summary }) });
    const metrics = within(await screen.findByRole('region', { name: 'Metrics' }));
    expect(metrics.getByText('macro_f1').closest('div')).toHaveTextContent(
      'macro_f10.71395% CI 0.65 to 0.77',
    );
    expect(metrics.getByText('kappa').closest('div')).toHaveTextContent(
      'kappa0.5No 95% CI: fewer than 2 clusters',
    );
    const row = metrics.getByRole('row', { name: /^retrieved/ });
    expect(row).toHaveTextContent('retrieveddocuments7.256.1 to 8.418998712');
    const table = within(metrics.getByRole('table', { name: 'confusion' }));
    expect(table.getByRole('columnheader', { name: 'expected' })).toBeVisible();
    expect(table.getByRole('row', { name: /^yes/ })).toHaveTextContent('yes1,2003');
  });

  test('summary functions that failed are errors of the run, with the reasons', async () => {
    const summary = { ...report().summary, summaryErrors: { confusion: 'no labels' } };
    open({ run: report({ passed: false, verdict: 'failed', summary }) });
    const list = await screen.findByRole('list', { name: 'Failed summary functions' });
    expect(list).toHaveTextContent('Summary function confusion failed: no labels');
    expect(screen.getByText('1 summary error')).toBeVisible();
  });

  test('a strict experiment needs every item at its pass marks', async () => {
    const config = { ...report().config, strict: true };
    open({ run: report({ passed: false, verdict: 'failed', config }) });
    const thresholds = await screen.findByRole('region', { name: 'Thresholds' });
    expect(thresholds).toHaveTextContent('the experiment is strict, so every item must reach its pass marks');
    expect(thresholds).not.toHaveTextContent('cannot fail');
  });

  test('an experiment without thresholds that is not strict cannot fail by scores', async () => {
    open({ run: report() });
    const thresholds = await screen.findByRole('region', { name: 'Thresholds' });
    expect(thresholds).toHaveTextContent('is not strict: scores alone cannot fail it');
  });

  test('a partial run lists its thresholds as not evaluated', async () => {
    const config = { ...report().config, thresholds: ['latency.p95<=3s'] };
    open({ run: report({ partial: true, config }) });
    const thresholds = await screen.findByRole('region', { name: 'Thresholds' });
    expect(thresholds).toHaveTextContent('not evaluated for a partial run');
    expect(thresholds).toHaveTextContent('latency.p95 ≤ 3s');
    expect(screen.getByText('not evaluated')).toBeVisible();
  });

  test('a run with a baseline shows the change and the regressions', async () => {
    const scores = [{ evaluator: 'correctness', base: 1, other: 0.25 }];
    const baseline = comparison({ regressed: [{ key: 'france', scores }] });
    open({ run: report({ baseline }) });
    const panel = await screen.findByRole('region', { name: 'Change vs. baseline (aaa, 2026-02-05)' });
    expect(within(panel).getByText('Regressed')).toBeVisible();
    expect(within(panel).getByRole('heading', { name: 'Regressions' })).toBeVisible();
    expect(within(panel).getByRole('link', { name: 'france' }).closest('li')).toHaveTextContent(
      'correctness 1.000 → 0.250',
    );
  });

  test('the header has the dataset, the duration and the number of trials', async () => {
    const dataset = { source: 'datasets/questions.jsonl', items: 12, hash: 'ca4ed1c9' };
    const git = { commit: '0123456789abcdef', dirty: true };
    open({ run: report({ dataset, git, config: { ...report().config, runs: 5 } }) });
    expect(await screen.findByText('datasets/questions.jsonl')).toBeVisible();
    const facts = screen.getAllByRole('term').map((term) => term.textContent);
    expect(facts).toEqual(expect.arrayContaining(['Dataset', 'Duration', 'Trials']));
    expect(screen.getByText('5 trials per item')).toBeVisible();
    expect(screen.getByText('uncommitted changes')).toBeVisible();
  });

  test('its items and metrics are loaded in parallel', async () => {
    const { requests } = open();
    await screen.findByRole('table', { name: 'Items' });
    const paths = requests.map((url) => url.pathname).filter((path) => path.startsWith(RUN));
    expect(paths.slice(0, 2).sort()).toEqual([`${RUN}/items`, `${RUN}/overview`]);
  });

  test('an evaluator has its mean, CI, pass rate and pass mark', async () => {
    open();
    const table = await screen.findByRole('table', { name: 'Scores by evaluator' });
    for (const name of ['Mean (95% CI)', 'Distribution'])
      expect(within(table).getByRole('columnheader', { name })).toBeVisible();
    const row = within(table).getByRole('row', { name: /correctness/ });
    for (const text of ['0.900', '0.850 to 0.950', '75%', 'Pass mark 0.5'])
      expect(row).toHaveTextContent(text);
  });

  test('a replayed one has its traffic, and marks latency and cost as recorded', async () => {
    const notes = { attributedByContent: 3, unattributed: 2, unattributedReplayed: 1 };
    const summary = { ...report().summary, estimatedCost: 0.02, traffic: traffic(notes) };
    const states = { ...overview().states, diverged: 2 };
    const { router, user } = open({ run: report({ summary }), states });
    const section = await screen.findByRole('region', { name: 'Model traffic' });
    expect(section).toHaveTextContent('12 items: 10 replayed (recorded 2026-01-21), 2 live, $0.030');
    expect(section).toHaveTextContent('3 requests attributed by content');
    expect(section).toHaveTextContent('2 requests not attributed to an item, 1 of them replayed');
    for (const name of ['Median latency', 'Agent cost'])
      expect(screen.getByText(name, { selector: 'dt' }).parentElement).toHaveTextContent(
        '10 of 12 as recorded',
      );
    const usage = screen.getByRole('region', { name: 'Latency, tokens and cost' });
    expect(usage).toHaveTextContent('10 of 12 as recorded');
    await user.click(within(section).getByRole('button', { name: '2 items diverged from the recording' }));
    expect(router.state.location.search).toBe('?state=diverged');
    expect(screen.getByRole('button', { name: 'Diverged 2' })).toHaveAttribute('aria-pressed', 'true');
  });

  test('one without recorded traffic says nothing about it', async () => {
    open();
    await screen.findByRole('table', { name: 'Items' });
    expect(screen.queryByRole('region', { name: 'Model traffic' })).toBeNull();
    expect(screen.queryByText(/as recorded/)).toBeNull();
    expect(screen.queryByRole('button', { name: /^Diverged/ })).toBeNull();
  });

  test('the cost of simulated users is named apart from agent cost and judge cost', async () => {
    const summary = { estimatedCost: 0.5, judgeCalls: 2, judgeCost: 0.25, simulatedUsers: userUsage() };
    open({ run: report({ summary: { ...report().summary, ...summary } }) });
    expect(await screen.findByText('judge cost $0.250, user cost $0.0012')).toBeVisible();
    const total = screen.getByText('Simulated users total').parentElement;
    expect(total).toHaveTextContent('$0.0012 3 calls, 1,000 tokens, gpt-5.4-nano');
    expect(screen.getByText('Judge total').parentElement).toHaveTextContent('$0.250');
  });

  test('a cost of simulated users without a known price is unknown', async () => {
    const simulatedUsers = userUsage({ cost: 0, unpriced: ['ours'], models: ['ours'] });
    open({ run: report({ summary: { ...report().summary, estimatedCost: 0.5, simulatedUsers } }) });
    expect(await screen.findByText('user cost unknown')).toBeVisible();
    const total = screen.getByText('Simulated users total').parentElement;
    expect(total).toHaveTextContent('cost unknown 3 calls, 1,000 tokens, ours');
  });

  test('one with retried attempts counts them, and shows their items', async () => {
    const counts = { retriedItems: 3, retriedExecutions: 5, passedAfterRetry: 2 };
    const states = { ...overview().states, retried: 3 };
    const { router, user } = open({ run: report({ summary: { ...report().summary, ...counts } }), states });
    const section = await screen.findByRole('region', { name: 'Retries' });
    expect(section).toHaveTextContent('Retried: 3 items, 5 transient failures');
    expect(section).toHaveTextContent('2 items passed only after a retry');
    await user.click(within(section).getByRole('button', { name: 'Show retried items' }));
    expect(router.state.location.search).toBe('?state=retried');
    expect(screen.getByRole('button', { name: 'Retried 3' })).toHaveAttribute('aria-pressed', 'true');
  });

  test('one without retries says nothing about them', async () => {
    open();
    await screen.findByRole('table', { name: 'Items' });
    expect(screen.queryByRole('region', { name: 'Retries' })).toBeNull();
    expect(screen.queryByRole('button', { name: /^Retried/ })).toBeNull();
    expect(screen.queryByText(/retried/)).toBeNull();
  });

  test('groups of a field have their scores, and the worst is marked', async () => {
    const given = (value: string, avg: number) => ({
      value,
      items: 6,
      passedItems: 5,
      failedItems: 0,
      avgLatencyMs: 300,
      scores: { correctness: { avg, count: 6, ci95: { low: avg - 0.1, high: avg + 0.1 }, passRate: 0.5 } },
    });
    const groups = [{ field: 'category', groups: [given('billing', 0.8), given('refunds', 0.4)] }];
    const { summary } = report();
    open({ run: report({ summary: { ...summary, groups, notApplicable: { correctness: 3 } } }) });
    const table = await screen.findByRole('table', { name: 'Scores by category' });
    const row = within(table).getByRole('row', { name: /^refunds/ });
    expect(row).toHaveTextContent('5 of 60.400Worst0.300 to 0.500, pass rate 50%');
    expect(within(table).getByRole('row', { name: /^billing/ })).not.toHaveTextContent('Worst');
    expect(screen.getByText('3 n/a')).toBeVisible();
  });

  test('one of a variant has its settings, and links to the other variants and to the group', async () => {
    const variant = {
      experiment: 'answers',
      name: 'mini',
      group: 'abc123',
      position: 0,
      isDefault: true,
      settings: { model: 'small', temperature: 0.2 },
    };
    const variants = [
      { id: 'a1b2c3', variant: 'mini', verdict: 'passed' as const },
      { id: 'd4e5f6', variant: 'large', verdict: 'failed' as const },
    ];
    open({ run: report({ variant }), variants });
    const strip = await screen.findByRole('region', { name: 'Variant' });
    expect(strip).toHaveTextContent('Variant mini of answers, the default');
    expect(strip).toHaveTextContent('temperature0.2');
    expect(within(strip).getByRole('link', { name: 'large' })).toHaveAttribute('href', '/runs/d4e5f6');
    expect(within(strip).queryByRole('link', { name: 'mini' })).toBeNull();
    const all = within(strip).getByRole('link', { name: 'Compare all variants' });
    expect(all).toHaveAttribute('href', '/groups/abc123');
  });

  test('a re-scored one links to its origin, with the limits of re-scoring', async () => {
    const rescored = {
      run: 'd4e5f6',
      timestamp: '2026-02-04T10:00:00.000Z',
      evaluators: ['correctness'],
      notes: ['one output was cut'],
    };
    open({ run: report({ rescored }) });
    const strip = await screen.findByRole('region', { name: 'Re-scored' });
    expect(within(strip).getByRole('link', { name: 'run d4e5f6' })).toHaveAttribute('href', '/runs/d4e5f6');
    expect(strip).toHaveTextContent('Scored again by correctness.');
    expect(strip).toHaveTextContent('one output was cut');
  });

  test('it links to its neighbours, comparison, trends and exports', async () => {
    const { user } = open({ previous: { id: 'before', timestamp: '2026-02-04T10:00:00Z' } });
    expect(await screen.findByRole('link', { name: 'Previous run' })).toHaveAttribute('href', '/runs/before');
    expect(screen.queryByRole('link', { name: 'Next run' })).toBeNull();
    const compare = screen.getByRole('link', { name: 'Compare with previous run' });
    expect(compare).toHaveAttribute('href', '/compare?a=before&b=a1b2c3');
    expect(screen.getByRole('link', { name: 'Trends' })).toHaveAttribute(
      'href',
      '/trends?experiment=answers',
    );
    await user.click(screen.getByRole('button', { name: 'Export' }));
    const junit = await screen.findByRole('menuitem', { name: /JUnit/ });
    expect(junit).toHaveAttribute('href', '/api/export?run=a1b2c3&format=junit');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('menuitem', { name: /JUnit/ })).toBeNull();
    expect(screen.getByRole('button', { name: 'Export' })).toHaveFocus();
  });

  test('while it is in progress, it shows the progress of the latest event', async () => {
    const live = [liveRun({ id: 'a1b2c3', finishedItems: 20, totalItems: 40 })];
    open({ state: 'running', finishedItems: 12, plannedItems: 40 }, { live });
    const progress = await screen.findByRole('progressbar', { name: 'Finished items' });
    expect(progress).toHaveAttribute('value', '20');
    expect(screen.getByText('20 of 40 items')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Export' })).toBeNull();
  });

  test('an interrupted one shows how to resume it', async () => {
    open({ state: 'cut-off', finishedItems: 12, plannedItems: 40 });
    expect(await screen.findByText('cargo cobalt run --resume a1b2c3')).toBeVisible();
    expect(screen.getByText('Interrupted after 12 of 40 items.')).toBeVisible();
  });

  test('an unknown one is reported, with a link to all runs', async () => {
    mockServer({ [`${RUN}/overview`]: errorResponse(404, 'run `a1b2c3` not found') });
    renderPage(Component, { at: '/runs/a1b2c3', path: '/runs/:id' });
    expect(await screen.findByRole('heading', { level: 1, name: 'Run not found' })).toBeVisible();
    expect(screen.getByText(/No run has the ID/)).toHaveTextContent('a1b2c3');
    expect(document.body).not.toHaveTextContent('`');
    expect(screen.getByRole('link', { name: 'Show the experiments' })).toHaveAttribute('href', '/');
  });
});

describe('the items', () => {
  test('of thousands, only the visible ones are rendered and loaded', async () => {
    const { requests } = open({}, { matching: 10_000 });
    const table = await screen.findByRole('table', { name: 'Items' });
    await waitFor(() => expect(table).toHaveAttribute('aria-rowcount', '10001'));
    expect(within(table).getAllByRole('link').length).toBeLessThan(50);
    expect(requests.filter((url) => url.pathname.endsWith('/items')).length).toBeLessThan(3);
  });

  test('latency and cost of a replayed item are marked, and its title explains the mark', async () => {
    const recordedAt = '2026-01-21T12:00:00.000Z';
    const rows = [
      itemRow(0, { cost: 0.01, traffic: { replayed: 3, live: 0, recordedAt, diverged: false } }),
      itemRow(1, { cost: 0.01, traffic: { replayed: 2, live: 1, recordedAt, diverged: true } }),
      itemRow(2, { cost: 0.01, traffic: { replayed: 0, live: 4, diverged: false } }),
    ];
    mockServer({ [`${RUN}/overview`]: overview(), [`${RUN}/items`]: { items: rows, matching: 3, total: 3 } });
    renderPage(Component, { at: '/runs/a1b2c3', path: '/runs/:id' });
    const replayed = await screen.findByRole('row', { name: /item 0/ });
    expect(within(replayed).getByRole('cell', { name: 'as recorded: 310 ms' })).toBeVisible();
    expect(within(replayed).getByRole('cell', { name: 'as recorded: $0.010' })).toBeVisible();
    expect(within(replayed).getByRole('link')).toHaveAttribute(
      'title',
      'key-0\nLatency and cost are those recorded on 2026-01-21: 3 requests replayed',
    );
    expect(screen.getByRole('row', { name: /item 1/ })).toHaveTextContent('as recorded in part: 310 ms');
    expect(screen.getByRole('row', { name: /item 2/ })).not.toHaveTextContent('recorded');
  });

  test('an item with retried attempts is marked beside its status', async () => {
    const rows = [itemRow(0, { retried: 2 }), itemRow(1)];
    mockServer({ [`${RUN}/overview`]: overview(), [`${RUN}/items`]: { items: rows, matching: 2, total: 2 } });
    renderPage(Component, { at: '/runs/a1b2c3', path: '/runs/:id' });
    const retried = await screen.findByRole('row', { name: /item 0/ });
    expect(within(retried).getByRole('cell', { name: 'Passed (2 attempts retried)' })).toBeVisible();
    expect(screen.getByRole('row', { name: /item 1/ })).not.toHaveTextContent('retried');
  });

  test('filters are written to the URL and sent to the server', async () => {
    const { router, user, requests } = open({}, { at: '?minScore=0.2&sort=cost' });
    await user.click(await screen.findByRole('button', { name: /Below pass mark 2/ }));
    await choose(user, 'Evaluator', 'correctness');
    const filters = { minScore: '0.2', state: 'low', evaluator: 'correctness', sort: 'cost' };
    expect(Object.fromEntries(new URLSearchParams(router.state.location.search))).toEqual(filters);
    await waitFor(() =>
      expect(Object.fromEntries(requests.at(-1)?.searchParams ?? [])).toMatchObject(filters),
    );
    await user.click(screen.getByRole('button', { name: 'Clear' }));
    expect(router.state.location.search).toBe('?sort=cost');
  });

  test('a column sorts worst first, then reversed', async () => {
    const { router, user } = open();
    const column = await screen.findByRole('columnheader', { name: 'Latency' });
    await user.click(within(column).getByRole('button'));
    expect(column).toHaveAttribute('aria-sort', 'ascending');
    await user.click(within(column).getByRole('button'));
    expect(column).toHaveAttribute('aria-sort', 'descending');
    expect(router.state.location.search).toBe('?sort=latency&order=desc');
  });

  test('a bar of a histogram shows its items', async () => {
    const { router, user } = open();
    await user.click(
      await screen.findByRole('button', { name: /2 items from 0.20 to 0.25, below pass mark/ }),
    );
    expect(router.state.location.search).toBe('?evaluator=correctness&minScore=0.2&maxScore=0.249999999');
    expect(screen.getByLabelText('Max score')).toHaveValue(0.25);
  });

  test('scores of 1 reach a pass mark of 1', async () => {
    render(<Histogram name="calls" bins={[1, 0, 0, 2]} passMark={1} onRange={() => {}} />);
    expect(
      screen.getByRole('button', { name: '1 item from 0.00 to 0.25, below pass mark: show items' }),
    ).toBeVisible();
    expect(screen.getByRole('button', { name: '2 items from 0.75 to 1.00: show items' })).toBeVisible();
  });

  test('Enter opens an item, and keys go to its neighbours', async () => {
    const { router, user } = open();
    (await screen.findByRole('link', { name: 'item 0' })).focus();
    await user.keyboard('{Enter}');
    const pane = await screen.findByRole('region', { name: 'item 0' });
    expect(await within(pane).findByText('1 of 57')).toBeVisible();
    expect(within(pane).getByRole('button', { name: 'Previous item' })).toBeDisabled();
    await user.keyboard('j');
    expect(await screen.findByText('2 of 57')).toBeVisible();
    expect(router.state.location.search).toBe('?item=key-1');
  });

  test('the neighbours of an open item are prefetched', async () => {
    const { requests } = open({}, { at: '?item=key-0' });
    await screen.findByRole('region', { name: 'item 0' });
    await waitFor(() => expect(requests.map((url) => url.pathname)).toContain(`${RUN}/items/key-1`));
  });

  test('closing the pane focuses the row of its item', async () => {
    const { router, user } = open({}, { at: '?item=key-1' });
    const pane = await screen.findByRole('region', { name: 'item 1' });
    await within(pane).findByText('2 of 57');
    await user.click(within(pane).getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('region', { name: 'item 1' })).toBeNull();
    expect(router.state.location.search).toBe('');
    await waitFor(() => expect(screen.getByRole('link', { name: 'item 1' })).toHaveFocus());
  });

  test('an unknown item is reported', async () => {
    open({}, { at: '?item=gone' });
    expect(await screen.findByText('Item not found')).toBeVisible();
  });
});
