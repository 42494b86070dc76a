import { screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Overview, ThresholdOutcome } from '../../api/types';
import { comparison } from '../../test/comparison';
import { userUsage } from '../../test/conversation';
import { mockLayout } from '../../test/layout';
import { renderPage } from '../../test/render';
import { items, overview, report, traffic } from '../../test/run';
import { liveRun } from '../../test/runs';
import { errorResponse, mockServer } from '../../test/server';
import { Component } from '.';

const RUN = '/api/runs/a1b2c3';

beforeEach(() => mockLayout());

/** Opens the page with its details. */
function open(given: Partial<Overview> = {}, { at = '?details=open', live = [liveRun()] } = {}) {
  const requests = mockServer({
    [`${RUN}/overview`]: overview(given),
    [`${RUN}/items`]: items(12),
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
    expect(screen.getByText(/1 summary error/)).toBeVisible();
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
    const panel = await screen.findByRole('region', {
      name: /^Change vs. baseline \(aaa, 2026-02-05 \d\d:00\)$/,
    });
    expect(within(panel).getByText('Regressed')).toBeVisible();
    expect(within(panel).getByRole('heading', { name: 'Regressions' })).toBeVisible();
    expect(within(panel).getByRole('link', { name: 'france' }).closest('li')).toHaveTextContent(
      'correctness 1.000 → 0.250',
    );
  });

  test('its settings have the dataset, the commit and the number of trials', async () => {
    const dataset = { source: 'datasets/questions.jsonl', items: 12, hash: 'ca4ed1c9' };
    const git = { commit: '0123456789abcdef', dirty: true };
    open({ run: report({ dataset, git, config: { ...report().config, runs: 5 } }) });
    const settings = within(await screen.findByRole('region', { name: 'Settings' }));
    expect(settings.getByText('datasets/questions.jsonl')).toBeVisible();
    expect(settings.getByText('5 trials per item')).toBeVisible();
    expect(settings.getByText('uncommitted changes')).toBeVisible();
    expect(settings.getByText(/^2026-02-0\d \d\d:\d\d$/)).toBeVisible();
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
    const strip = within(screen.getByRole('region', { name: 'Key figures' }));
    for (const name of [/^Median latency/, /^Agent cost/])
      expect(strip.getByRole('button', { name })).toHaveTextContent('10 of 12 as recorded');
    const usage = screen.getByRole('region', { name: 'Latency, tokens and cost' });
    expect(usage).toHaveTextContent('10 of 12 as recorded');
    await user.click(within(section).getByRole('button', { name: '2 items diverged from the recording' }));
    expect(router.state.location.search).toBe('?details=open&state=diverged');
    expect(screen.getByRole('button', { name: 'Diverged 2' })).toHaveAttribute('aria-pressed', 'true');
  });

  test('one without recorded traffic says nothing about it', async () => {
    open();
    await screen.findByRole('table', { name: 'Items' });
    expect(screen.queryByRole('region', { name: 'Model traffic' })).toBeNull();
    expect(screen.queryByText(/as recorded/)).toBeNull();
    expect(screen.queryByRole('button', { name: /^Diverged/ })).toBeNull();
  });

  test('its items are counted once: at pass marks, below, or in error', async () => {
    open();
    const strip = within(await screen.findByRole('region', { name: 'Key figures' }));
    expect(strip.getByRole('button', { name: /^Items/ })).toHaveTextContent(
      '1210 at pass marks, 1 below, 1 error',
    );
    expect(screen.getByText(/1 of 12 items below pass mark/)).toBeVisible();
  });

  test('the cost of simulated users is named apart from agent cost and judge cost', async () => {
    const summary = { estimatedCost: 0.5, judgeCalls: 2, judgeCost: 0.25, simulatedUsers: userUsage() };
    open({ run: report({ summary: { ...report().summary, ...summary } }) });
    const total = (await screen.findByText('Simulated users total')).parentElement;
    expect(total).toHaveTextContent('$0.0012 3 calls, 1,000 tokens, gpt-5.4-nano');
    // Costs beside each other have the same decimals.
    expect(screen.getByText('Judge total').parentElement).toHaveTextContent('$0.2500');
    const strip = within(screen.getByRole('region', { name: 'Key figures' }));
    for (const [name, text] of [
      [/^Agent cost/, '$0.5000total'],
      [/^Judge cost/, '$0.2500total'],
      [/^User cost/, '$0.0012total'],
      [/^Total cost/, '$0.7512sum of all costs'],
    ] as const)
      expect(strip.getByRole('button', { name })).toHaveTextContent(text);
  });

  test('a cost of simulated users without a known price is unknown', async () => {
    const simulatedUsers = userUsage({ cost: 0, unpriced: ['ours'], models: ['ours'] });
    open({ run: report({ summary: { ...report().summary, estimatedCost: 0.5, simulatedUsers } }) });
    const total = (await screen.findByText('Simulated users total')).parentElement;
    expect(total).toHaveTextContent('cost unknown 3 calls, 1,000 tokens, ours');
    expect(screen.getByRole('button', { name: /^User cost/ })).toHaveTextContent('–price unknown');
    expect(screen.getByRole('button', { name: /^Total cost/ })).toHaveTextContent('$0.50known costs only');
  });

  test('one with retried attempts counts them, and shows their items', async () => {
    const counts = { retriedItems: 3, retriedExecutions: 5, passedAfterRetry: 2 };
    const states = { ...overview().states, retried: 3 };
    const { router, user } = open({ run: report({ summary: { ...report().summary, ...counts } }), states });
    const section = await screen.findByRole('region', { name: 'Retries' });
    expect(section).toHaveTextContent('Retried: 3 items, 5 transient failures');
    expect(section).toHaveTextContent('2 items passed only after a retry');
    await user.click(within(section).getByRole('button', { name: 'Show retried items' }));
    expect(router.state.location.search).toBe('?details=open&state=retried');
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

  test('a run without inputs and outputs says so', async () => {
    open({ run: report({ redacted: true }) });
    expect(await screen.findByRole('region', { name: 'Redacted' })).toHaveTextContent(
      'inputs and outputs were removed',
    );
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

  test('it links to its neighbours, the comparison and exports', async () => {
    const { user } = open({ previous: { id: 'before', timestamp: '2026-02-04T10:00:00Z' } });
    expect(await screen.findByRole('link', { name: 'Previous run' })).toHaveAttribute('href', '/runs/before');
    expect(screen.queryByRole('link', { name: 'Next run' })).toBeNull();
    const compare = screen.getByRole('link', { name: 'Compare with previous run' });
    expect(compare).toHaveAttribute('href', '/runs/a1b2c3?compare=before');
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

  test('an unknown one is reported, with a link to the experiments', async () => {
    mockServer({ [`${RUN}/overview`]: errorResponse(404, 'run `a1b2c3` not found') });
    renderPage(Component, { at: '/runs/a1b2c3', path: '/runs/:id' });
    expect(await screen.findByRole('heading', { level: 1, name: 'Run not found' })).toBeVisible();
    expect(screen.getByText(/No run has the ID/)).toHaveTextContent('a1b2c3');
    expect(document.body).not.toHaveTextContent('`');
    expect(screen.getByRole('link', { name: 'Show the experiments' })).toHaveAttribute('href', '/');
  });
});
