import { screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Execution, Item, ItemRow, Span, Traffic } from '../../../api/types';
import { transcript, turn } from '../../../test/conversation';
import { mockLayout } from '../../../test/layout';
import { renderPage } from '../../../test/render';
import { evaluation, overview, wholeItem } from '../../../test/run';
import { mockServer } from '../../../test/server';
import { Component } from '.';

beforeEach(() => mockLayout());

/** Opens the page of an item. */
async function open(given: Partial<Item>, tab = 'result', row: Partial<ItemRow> = {}) {
  mockServer({
    '/api/runs/a1b2c3/overview': overview(),
    '/api/runs/a1b2c3/items/key-0': wholeItem(0, given, row),
  });
  const at = `/runs/a1b2c3/items/key-0?tab=${tab}`;
  const page = renderPage(Component, { at, path: '/runs/:id/items/:key' });
  const panel = await screen.findByRole('tabpanel');
  return {
    ...page,
    panel: within(panel),
    tab: (name: string) => page.user.click(screen.getByRole('tab', { name: new RegExp(`^${name}`) })),
  };
}

const span = (given: Partial<Span>): Span => ({
  id: '',
  name: '',
  kind: 'other',
  startMs: 0,
  durationMs: 12,
  status: 'ok',
  ...given,
});

const execution = (score: number, output: string): Execution => ({
  output: { output },
  latencyMs: 310,
  status: 'ok',
  evaluations: { correctness: evaluation({ score }) },
});

const spread = { mean: 0.6, stddev: 0.4, min: 0.2, max: 1, p50: 0.6, p95: 1, p99: 1, scores: [1, 0.2] };

describe('the page of an item', () => {
  test('shows the input as fields, and the difference to the expected output', async () => {
    const { panel } = await open({
      input: { question: 'Which fox?', expectedOutput: 'the red fox', locale: 'en' },
    });
    const input = within(panel.getByRole('region', { name: 'Input' }));
    expect(input.getByText('Which fox?')).toBeVisible();
    expect(input.getByRole('term')).toHaveTextContent('locale');
    const output = within(panel.getByRole('region', { name: 'Expected and output' }));
    expect(output.getByText('red').tagName).toBe('DEL');
    expect(output.getByText('grey').tagName).toBe('INS');
  });

  test('shows texts that are not close beside each other, without a choice', async () => {
    const { panel } = await open({ output: { output: 'I do not know' } });
    const output = within(panel.getByRole('region', { name: 'Expected and output' }));
    expect(output.getByRole('heading', { name: 'Expected' }).parentElement).toHaveTextContent('the red fox');
    expect(output.getByRole('heading', { name: 'Output' }).parentElement).toHaveTextContent('I do not know');
    expect(output.queryByRole('button', { name: 'Difference' })).toBeNull();
  });

  test('says that the output equals what is expected', async () => {
    const { panel } = await open({ output: { output: 'the red fox' } });
    expect(panel.getByText('The output equals what is expected')).toBeVisible();
  });

  test('renders Markdown, and shows it raw on demand', async () => {
    const { panel, user } = await open({
      input: { question: 'x' },
      output: { output: '# Title\n\n- **one**' },
    });
    expect(await panel.findByRole('heading', { name: 'Title' })).toBeVisible();
    await user.click(within(panel.getByRole('group', { name: 'Format of the output' })).getByText('Raw'));
    expect(panel.getByText(/# Title/)).toBeVisible();
  });

  test('names the evaluators that failed with their reasons, on every tab', async () => {
    const reason = `it is red, ${'and so on '.repeat(30)}`;
    const evaluations = { correctness: evaluation({ score: 0.2, reason }), tone: { error: 'no answer' } };
    const { tab, user } = await open({ evaluations }, 'raw', { passed: false });
    const failures = () => within(screen.getByRole('list', { name: 'Why it failed' }));
    expect(
      failures()
        .getAllByRole('listitem')
        .map((item) => item.textContent),
    ).toEqual([
      expect.stringMatching(/^correctness0\.200 < 0\.5 \(below pass mark\)it is red/),
      'tonescoring errorno answer',
    ]);
    await tab('Result');
    expect(failures().getByText('correctness')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Show full reasons' }));
    expect(failures().getByText(/it is red/)).toHaveTextContent(reason.trim());
  });

  test('names the trial in which an evaluator failed, and selects it', async () => {
    const runs = [execution(1, 'the red fox'), execution(0.2, 'no fox')];
    const { user, router } = await open({ runs });
    await user.click(screen.getByRole('button', { name: 'in trial 2' }));
    expect(router.state.location.search).toBe('?tab=result&execution=2');
    expect(screen.queryByRole('button', { name: /^in trial/ })).toBeNull();
  });

  test('says that an evaluator does not apply, and why', async () => {
    const found = { notApplicable: true, reason: 'no citation asked' };
    const { panel } = await open({ evaluations: { correctness: found } }, 'scores');
    expect(panel.getByText('n/a: does not apply')).toBeVisible();
    expect(panel.getByText('no citation asked')).toBeVisible();
    expect(panel.queryByText('Scoring error')).toBeNull();
    expect(screen.queryByRole('list', { name: 'Why it failed' })).toBeNull();
  });

  test('shows a score with its pass mark, reason and judge, and the reasoning on demand', async () => {
    const judge = {
      models: ['judge-1'],
      calls: 2,
      cached: 0,
      tokens: { input: 900, output: 100 },
      cost: 0.0012,
    };
    const found = evaluation({ score: 0.2, reason: 'it is red', chainOfThought: 'first, the fox', judge });
    const { panel, user } = await open({ evaluations: { correctness: found } }, 'scores');
    expect(panel.getByText('Below pass mark 0.5')).toBeVisible();
    expect(panel.getByText('it is red')).toBeVisible();
    expect(panel.getByText('judge-1 · 2 calls · 1,000 tokens · judge cost $0.0012')).toBeVisible();
    expect(panel.queryByText('first, the fox')).toBeNull();
    await user.click(panel.getByRole('button', { name: 'Reasoning' }));
    expect(panel.getByText('first, the fox')).toBeVisible();
  });

  test('distinguishes a scoring error from a low score', async () => {
    const { panel } = await open(
      { evaluations: { correctness: { error: 'the judge is unavailable' } } },
      'scores',
    );
    expect(panel.getByText('Scoring error')).toBeVisible();
    expect(panel.getByText('the judge is unavailable')).toBeVisible();
  });

  test('shows the agent error and the expected output', async () => {
    const { panel } = await open({ status: 'error', error: 'connection reset', output: { output: null } });
    expect(panel.getByText('The agent failed')).toBeVisible();
    expect(panel.getByText('connection reset')).toBeVisible();
    expect(panel.getByText('the red fox')).toBeVisible();
  });

  test('shows each trial of an item, and their mean, SD and range', async () => {
    const runs = [execution(1, 'the red fox'), execution(0.2, 'no fox')];
    const aggregated = { avgLatencyMs: 310, evaluations: { correctness: spread } };
    const { panel, tab, user } = await open({ runs, aggregated }, 'scores');
    for (const name of ['Mean ± SD', 'Range'])
      expect(panel.getByRole('columnheader', { name })).toBeVisible();
    const row = panel.getByRole('row', { name: /correctness/ });
    expect(row).toHaveTextContent('0.600 ± 0.400');
    expect(row).toHaveTextContent('0.200 to 1.000');
    await tab('Result');
    expect(screen.getByText('The output equals what is expected')).toBeVisible();
    await user.click(screen.getByRole('button', { name: /Trial 2/ }));
    expect(screen.getByRole('region', { name: 'Expected and output' })).toHaveTextContent('no fox');
  });

  const recordedAt = '2026-01-21T12:00:00.000Z';

  test('shows what was replayed, and where the conversation diverged', async () => {
    const traffic: Traffic = {
      replayed: 2,
      live: 1,
      liveCost: 0.0012,
      replayedJudges: 1,
      recordedAt,
      retried: 1,
      waitedMs: 3000,
      diverged: '`messages[1].content`: recorded `<b>red</b>`, now `grey`',
    };
    const summary = { replayed: 2, live: 1, recordedAt, diverged: true };
    const { panel, tab, container } = await open({ traffic }, 'trace', { cost: 0.01, traffic: summary });
    const section = panel.getByRole('region', { name: 'Model traffic' });
    for (const [name, value] of [
      ['Requests replayed', '2'],
      ['Requests live', '1, $0.0012'],
      ['Judge answers replayed', '1'],
      ['Requests retried', '1'],
      ['Waited (not part of the latency)', '3.00 s'],
    ] as const)
      expect(within(section).getByText(name).parentElement).toHaveTextContent(`${name}${value}`);
    expect(within(section).getByText(/^2026-01-21/)).toHaveAttribute('datetime', recordedAt);
    expect(within(section).getByText('Diverged from the recording')).toBeVisible();
    expect(section).toHaveTextContent('recorded `<b>red</b>`, now `grey`');
    expect(container.querySelector('b')).toBeNull();
    await tab('Result');
    expect(screen.getAllByText('as recorded in part')).toHaveLength(2);
  });

  test('shows how many attempts the selected trial took, and why', async () => {
    const attempt = (error: string) => ({ error, latencyMs: 5 });
    const retried = [attempt('<b>busy</b>'), attempt('gone'), attempt('<b>busy</b>')];
    const runs = [{ ...execution(1, 'the red fox'), retried }, execution(1, 'the red fox')];
    const { panel, container, tab, user } = await open({ runs }, 'trace');
    const errors = within(panel.getByRole('region', { name: 'Retried after' })).getAllByRole('listitem');
    expect(errors.map((error) => error.textContent)).toEqual(['<b>busy</b>2 times', 'gone']);
    expect(container.querySelector('b')).toBeNull();
    expect(screen.getByRole('button', { name: /^retried Trial 1/ })).toBeVisible();
    await tab('Result');
    expect(screen.getByText('Attempts', { selector: 'dt' }).parentElement).toHaveTextContent('Attempts4');
    await user.click(screen.getByRole('button', { name: /^Trial 2/ }));
    expect(screen.queryByText('Attempts')).toBeNull();
    expect(screen.queryByRole('tab', { name: 'Trace' })).toBeNull();
  });

  test('lists the faults of the selected trial', async () => {
    const faults = [
      { tool: 'search', call: 2, fault: 'timeout' },
      { tool: '<b>book</b>', call: 1, fault: 'slow 2s' },
    ];
    const runs = [{ ...execution(1, 'the red fox'), faults }, execution(1, 'the red fox')];
    const { panel, user, container } = await open({ runs });
    expect(panel.getByText('Faults').nextElementSibling).toHaveTextContent(
      'search#2: timeout, <b>book</b>#1: slow 2s',
    );
    expect(container.querySelector('b')).toBeNull();
    await user.click(screen.getByRole('button', { name: /^Trial 2/ }));
    expect(screen.queryByText('Faults')).toBeNull();
  });

  test('shows what the agent changed in its workspace', async () => {
    const file = { path: 'src/<b>.rs', change: 'changed', addedLines: 2, removedLines: 1, bytes: 9 } as const;
    const image = {
      path: 'logo.png',
      change: 'added',
      addedLines: 0,
      removedLines: 0,
      bytes: 1200,
      binary: true,
    } as const;
    const patch = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+<b>new</b>\n+more\n';
    const workspace = {
      files: [file, image],
      addedLines: 2,
      removedLines: 1,
      omittedFiles: 1,
      patch,
      kept: '.cobalt/workspaces/a1b2c3/key-0-1',
    };
    const { panel, container } = await open({ workspace }, 'files');
    expect(panel.getByRole('row', { name: /src/ })).toHaveTextContent('changedsrc/<b>.rs+2 −1');
    expect(panel.getByRole('row', { name: /logo/ })).toHaveTextContent('binary, 1,200 bytes');
    expect(panel.getByText('and 1 more file')).toBeVisible();
    const patchOf = within(panel.getByRole('region', { name: 'Patch' }));
    expect(patchOf.getByRole('heading', { name: 'x' })).toBeVisible();
    expect(patchOf.getByRole('deletion')).toHaveTextContent('-old');
    expect(patchOf.getAllByRole('insertion')[0]).toHaveTextContent('+<b>new</b>');
    expect(panel.getByText('.cobalt/workspaces/a1b2c3/key-0-1')).toBeVisible();
    expect(container.querySelector('b')).toBeNull();
  });

  test('lists the tool calls with their arguments and results', async () => {
    const metadata = {
      model: 'small-1',
      attempt: 3,
      tool_calls: [
        { id: '1', function: { name: 'weather', arguments: '{"city":"York"}' } },
        { tool: 'book', error: 'full' },
      ],
    };
    const { panel, tab } = await open({ output: { output: 'ok', metadata } }, 'trace');
    const calls = within(panel.getByRole('region', { name: 'Tool calls' })).getAllByRole('listitem');
    expect(calls[0]).toHaveTextContent(/weather.*"city": "York"/s);
    expect(calls[1]).toHaveTextContent(/book.*Failed.*full/s);
    await tab('Result');
    expect(screen.getByRole('region', { name: 'Metadata' })).toHaveTextContent('attempt3');
    expect(screen.getByText('small-1')).toBeVisible();
  });

  test('shows hostile output as text, with invisible characters escaped', async () => {
    const hostile = '<img src=x onerror=alert(1)>\u202egnp.exe\u0007';
    const { panel, container } = await open({
      input: { constructor: hostile },
      output: { output: hostile },
    });
    const output = panel.getByRole('region', { name: 'Output' });
    expect(output).toHaveTextContent('<img src=x onerror=alert(1)>\\u{202e}gnp.exe\\u{7}');
    expect(container.querySelector('img')).toBeNull();
  });

  test('shows the trace as a tree with bars, and the contents of a span on demand', async () => {
    const { panel, user, container, router } = await open(
      {
        trace: [
          span({ id: 'a', name: 'research', kind: 'agent', durationMs: 9200 }),
          span({
            id: 'b',
            parent: 'a',
            name: 'chat',
            kind: 'model',
            startMs: 20,
            model: {
              asked: 'GPT-4o',
              tokens: { input: 1204, output: 38 },
              cost: 0.0034,
              timeToFirstTokenMs: 310,
              replayed: true,
              output: 'I will <b>search</b>.',
            },
          }),
          span({
            id: 'c',
            parent: 'a',
            name: 'execute_tool',
            kind: 'tool',
            status: 'error',
            attributes: { attempt: 2 },
            tool: { name: 'search', arguments: { query: 'red fox' }, error: 'no such index' },
          }),
          span({ id: 'd', name: 'flush', status: 'open' }),
        ],
        droppedSpans: 3,
      },
      'trace',
    );
    expect(panel.getByText('7 spans, 1 failed')).toBeVisible();
    expect(panel.getByText('3 further spans not recorded.')).toBeVisible();
    const row = (name: RegExp) => panel.getByRole('row', { name });
    expect(row(/research/)).toHaveAttribute('aria-level', '1');
    expect(row(/^Tool/)).toHaveAttribute('aria-level', '2');
    expect(row(/chat/)).toHaveTextContent('ModelchatGPT-4oReplayedstarts after 20 ms12 ms1,204 → 38$0.0034');
    expect(row(/flush/)).toHaveTextContent('Not finished');
    await user.click(row(/^Tool/));
    expect(router.state.location.search).toBe('?tab=trace&span=3');
    const tool = within(panel.getByRole('region', { name: 'search' }));
    expect(tool.getByText('no such index')).toBeVisible();
    expect(tool.getByText('Arguments').parentElement?.parentElement).toHaveTextContent('"query": "red fox"');
    expect(tool.getByText('Attributes').parentElement).toHaveTextContent('attempt2');
    await user.click(row(/chat/));
    expect(panel.getByText('I will <b>search</b>.')).toBeVisible();
    expect(panel.getByText('first token after 310 ms')).toBeVisible();
    expect(container.querySelector('b')).toBeNull();
  });

  test('the result has the tool calls with their times, which lead to their spans', async () => {
    const trace = [
      span({ id: 'a', name: 'chat', kind: 'model' }),
      span({ id: 'b', name: 'execute_tool', kind: 'tool', durationMs: 184, tool: { name: 'search' } }),
      span({ id: 'c', name: 'fetch', kind: 'tool', durationMs: 1500, status: 'error' }),
    ];
    const { panel, user, router } = await open({ trace });
    const calls = within(panel.getByRole('list', { name: 'Tool calls' })).getAllByRole('listitem');
    expect(calls.map((call) => call.textContent)).toEqual(['search184 ms', 'fetch1.50 sFailed']);
    await user.click(within(calls[1] as HTMLElement).getByRole('link'));
    expect(router.state.location.search).toBe('?tab=trace&span=3');
  });

  test('a trace is used by keyboard', async () => {
    const trace = [
      span({ id: 'a', name: 'research', kind: 'agent' }),
      span({ id: 'b', parent: 'a', name: 'search', kind: 'tool', status: 'error' }),
      span({ id: 'c', name: 'flush' }),
    ];
    const { panel, user } = await open({ trace }, 'trace');
    panel.getByRole('treegrid').focus();
    const active = () =>
      document.getElementById(panel.getByRole('treegrid').getAttribute('aria-activedescendant') ?? '');
    await user.keyboard('{ArrowRight}');
    expect(active()).toHaveTextContent('search');
    await user.keyboard('{ArrowLeft}{ArrowLeft}');
    expect(active()).toHaveTextContent('researcha span below it failed');
    expect(active()).toHaveAttribute('aria-expanded', 'false');
    expect(panel.queryByRole('row', { name: /^Tool/ })).toBeNull();
    await user.keyboard('{ArrowDown}{Enter}');
    expect(panel.getByRole('region', { name: 'flush' })).toBeVisible();
    await user.click(panel.getByRole('button', { name: 'Expand all' }));
    expect(panel.getByRole('row', { name: /^Tool/ })).toBeVisible();
  });

  test('tags a call of a tool with the fault that was injected', async () => {
    const call = {
      id: 'a',
      kind: 'tool',
      tool: { name: 'search' },
      attributes: { fault: 'slow 2s' },
    } as const;
    const { panel } = await open({ trace: [span(call), span({ ...call, id: 'b', kind: 'other' })] }, 'trace');
    const [, tool, other] = panel.getAllByRole('row');
    expect(tool).toHaveTextContent('ToolsearchFault: slow 2s');
    expect(other).not.toHaveTextContent('Fault:');
  });

  test('renders only the visible spans of a long trace, and those of one kind on demand', async () => {
    const trace = Array.from({ length: 1500 }, (_, id) =>
      span({ id: `${id}`, name: `step ${id}`, kind: id % 100 === 7 ? 'tool' : 'other' }),
    );
    const { panel, user } = await open({ trace }, 'trace');
    expect(panel.getByRole('treegrid')).toHaveAttribute('aria-rowcount', '1501');
    expect(panel.getAllByRole('row').length).toBeLessThan(60);
    await user.click(panel.getByRole('button', { name: 'Tools 15' }));
    expect(panel.getAllByRole('row')).toHaveLength(16);
    expect(panel.getByRole('row', { name: /step 1407/ })).toBeVisible();
  });

  test('shows the conversation of the selected trial', async () => {
    const runs = [
      { ...execution(1, 'Booked.'), transcript: transcript({ turns: [turn({ reply: 'Booked.' })] }) },
      { ...execution(1, 'Sorry.'), transcript: transcript({ end: 'gave-up', simulated: true }) },
    ];
    const { panel, user } = await open({ runs }, 'conversation');
    expect(panel.getByRole('region', { name: 'Conversation' })).toHaveTextContent('Booked.');
    await user.click(screen.getByRole('button', { name: /Trial 2/ }));
    expect(screen.getByRole('region', { name: 'Conversation' })).toHaveTextContent('User gave up');
  });

  test('shows only the tabs that have content, and the result instead of others', async () => {
    const { panel } = await open({}, 'conversation');
    expect(screen.getAllByRole('tab').map((tab) => tab.textContent)).toEqual(['Result', 'Scores', 'Raw']);
    expect(panel.getByRole('region', { name: 'Input' })).toBeVisible();
  });

  test('shows the metrics of the selected trial', async () => {
    const metrics = { retrieved: { value: 7.5, unit: 'documents' } };
    const runs = [{ ...execution(1, 'the red fox'), metrics }, execution(1, 'the red fox')];
    const { panel, user } = await open({ runs }, 'scores');
    expect(panel.getByRole('region', { name: 'Metrics' })).toHaveTextContent('retrieved7.5 documents');
    await user.click(screen.getByRole('button', { name: /Trial 2/ }));
    expect(screen.queryByRole('region', { name: 'Metrics' })).toBeNull();
  });

  test('has the focus on its heading, keys for neighbours and tabs, and a way back to the run', async () => {
    const { user, router } = await open({}, 'scores');
    expect(screen.getByRole('heading', { level: 1 })).toHaveFocus();
    await user.keyboard(']');
    expect(screen.getByRole('tab', { name: 'Raw' })).toHaveAttribute('aria-selected', 'true');
    await user.keyboard('[[');
    expect(screen.getByRole('tab', { name: 'Scores' })).toHaveAttribute('aria-selected', 'true');
    expect(screen.getByRole('link', { name: /^Run/ })).toHaveAttribute('href', '/runs/a1b2c3');
    await user.keyboard('j');
    expect(router.state.location.pathname).toBe('/runs/a1b2c3/items/key-1');
    expect(router.state.location.search).toBe('?tab=scores');
  });
});
