import { screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Execution, Item, ItemRow, Span, Traffic } from '../../../api/types';
import { transcript, turn } from '../../../test/conversation';
import { mockLayout } from '../../../test/layout';
import { renderPage } from '../../../test/render';
import { evaluation, items, overview, wholeItem } from '../../../test/run';
import { mockServer } from '../../../test/server';
import { Component } from '..';

beforeEach(() => mockLayout());

async function open(given: Partial<Item>, search = '', row: Partial<ItemRow> = {}) {
  mockServer({
    '/api/runs/a1b2c3/overview': overview(),
    '/api/runs/a1b2c3/items': items(12),
    '/api/runs/a1b2c3/items/key-0': wholeItem(0, given, row),
  });
  const page = renderPage(Component, { at: `/runs/a1b2c3?item=key-0${search}`, path: '/runs/:id' });
  const drawer = await screen.findByRole('dialog');
  await within(drawer).findByRole('region', { name: 'Input' });
  return { ...page, drawer: within(drawer) };
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

describe('the drawer of an item', () => {
  test('shows the input as fields, and the diff with the expected output', async () => {
    const { drawer } = await open({});
    const input = within(drawer.getByRole('region', { name: 'Input' }));
    expect(input.getByRole('term')).toHaveTextContent('question');
    const output = within(drawer.getByRole('region', { name: 'Output' }));
    expect(output.getByText('red').tagName).toBe('DEL');
    expect(output.getByText('grey').tagName).toBe('INS');
  });

  test('says that an evaluator does not apply, and why', async () => {
    const found = { notApplicable: true, reason: 'no citation asked' };
    const { drawer } = await open({ evaluations: { correctness: found } });
    const scores = within(drawer.getByRole('region', { name: 'Scores' }));
    expect(scores.getByText('n/a: does not apply')).toBeVisible();
    expect(scores.getByText('no citation asked')).toBeVisible();
    expect(scores.queryByText('Scoring error')).toBeNull();
  });

  test('shows a score with its pass mark and reason, and the reasoning on demand', async () => {
    const found = evaluation({ score: 0.2, reason: 'it is red', chainOfThought: 'first, the fox' });
    const { drawer, user } = await open({ evaluations: { correctness: found } });
    const scores = within(drawer.getByRole('region', { name: 'Scores' }));
    expect(scores.getByText('Below pass mark 0.5')).toBeVisible();
    expect(scores.getByText('it is red')).toBeVisible();
    expect(scores.queryByText('first, the fox')).toBeNull();
    await user.click(scores.getByRole('button', { name: 'Show reasoning' }));
    expect(scores.getByText('first, the fox')).toBeVisible();
  });

  test('distinguishes a scoring error from a low score', async () => {
    const { drawer } = await open({ evaluations: { correctness: { error: 'the judge is unavailable' } } });
    expect(drawer.getByText('Scoring error')).toBeVisible();
    expect(drawer.getByText('the judge is unavailable')).toBeVisible();
  });

  test('shows the agent error and the expected output', async () => {
    const { drawer } = await open({ status: 'error', error: 'connection reset', output: { output: null } });
    expect(drawer.getByText('The agent failed')).toBeVisible();
    expect(drawer.getByText('connection reset')).toBeVisible();
    expect(drawer.getByText('the red fox')).toBeVisible();
  });

  test('shows each trial of an item, and their mean, SD and range', async () => {
    const runs = [execution(1, 'the red fox'), execution(0.2, 'no fox')];
    const spread = { mean: 0.6, stddev: 0.4, min: 0.2, max: 1, p50: 0.6, p95: 1, p99: 1, scores: [1, 0.2] };
    const aggregated = { avgLatencyMs: 310, evaluations: { correctness: spread } };
    const { drawer, router, user } = await open({ runs, aggregated });
    for (const name of ['Mean ± SD', 'Range'])
      expect(drawer.getByRole('columnheader', { name })).toBeVisible();
    const row = drawer.getByRole('row', { name: /correctness/ });
    expect(row).toHaveTextContent('0.600 ± 0.400');
    expect(row).toHaveTextContent('0.200 to 1.000');
    expect(drawer.getByText('No differences')).toBeVisible();
    await user.click(drawer.getByRole('button', { name: /Trial 2/ }));
    expect(drawer.getByRole('region', { name: 'Output (trial 2)' })).toHaveTextContent('no');
    expect(router.state.location.search).toBe('?item=key-0&execution=2');
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
    const { drawer, container } = await open({ traffic }, '', { cost: 0.01, traffic: summary });
    const section = drawer.getByRole('region', { name: 'Model traffic' });
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
    expect(drawer.getAllByText('as recorded in part')).toHaveLength(2);
  });

  test('shows the traffic of the selected trial', async () => {
    const runs = [
      { ...execution(1, 'the red fox'), traffic: { replayed: 3, recordedAt } },
      { ...execution(1, 'the red fox'), traffic: { live: 3 } },
    ];
    const { drawer, user } = await open({ runs });
    expect(drawer.getByRole('region', { name: 'Model traffic (trial 1)' })).toHaveTextContent('replayed3');
    expect(drawer.getByText('as recorded')).toBeVisible();
    await user.click(drawer.getByRole('button', { name: /Trial 2/ }));
    expect(drawer.getByRole('region', { name: 'Model traffic (trial 2)' })).toHaveTextContent('live3');
    expect(drawer.queryByText('as recorded')).toBeNull();
  });

  test('shows how many attempts the selected trial took, and why', async () => {
    const attempt = (error: string) => ({ error, latencyMs: 5 });
    const retried = [attempt('<b>busy</b>'), attempt('gone'), attempt('<b>busy</b>')];
    const runs = [{ ...execution(1, 'the red fox'), retried }, execution(1, 'the red fox')];
    const { drawer, container, user } = await open({ runs });
    expect(drawer.getByText('Attempts', { selector: 'dt' }).parentElement).toHaveTextContent('Attempts4');
    const section = drawer.getByRole('region', { name: 'Retried after (trial 1)' });
    const errors = within(section).getAllByRole('listitem');
    expect(errors.map((error) => error.textContent)).toEqual(['<b>busy</b>2 times', 'gone']);
    expect(container.querySelector('b')).toBeNull();
    expect(drawer.getByRole('button', { name: /^retried Trial 1/ })).toBeVisible();
    await user.click(drawer.getByRole('button', { name: /^Trial 2/ }));
    expect(drawer.queryByRole('region', { name: /^Retried after/ })).toBeNull();
    expect(drawer.queryByText('Attempts')).toBeNull();
  });

  test('lists the faults of the selected trial', async () => {
    const faults = [
      { tool: 'search', call: 2, fault: 'timeout' },
      { tool: '<b>book</b>', call: 1, fault: 'slow 2s' },
    ];
    const runs = [{ ...execution(1, 'the red fox'), faults }, execution(1, 'the red fox')];
    const { drawer, user, container } = await open({ runs });
    expect(drawer.getByText('Faults').nextElementSibling).toHaveTextContent(
      'search#2: timeout, <b>book</b>#1: slow 2s',
    );
    expect(container.querySelector('b')).toBeNull();
    await user.click(drawer.getByRole('button', { name: /^Trial 2/ }));
    expect(drawer.queryByText('Faults')).toBeNull();
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
    const { drawer, container } = await open({ workspace });
    const section = within(drawer.getByRole('region', { name: 'Workspace' }));
    expect(section.getByRole('row', { name: /src/ })).toHaveTextContent('changedsrc/<b>.rs+2 −1');
    expect(section.getByRole('row', { name: /logo/ })).toHaveTextContent('binary, 1,200 bytes');
    expect(section.getByText('and 1 more file')).toBeVisible();
    expect(section.getByText('-old')).toHaveClass('text-bad');
    expect(section.getByText('+<b>new</b>')).toHaveClass('text-good');
    expect(section.getByText('.cobalt/workspaces/a1b2c3/key-0-1')).toBeVisible();
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
    const { drawer } = await open({ output: { output: 'ok', metadata } });
    const calls = within(drawer.getByRole('region', { name: 'Tool calls' })).getAllByRole('listitem');
    expect(calls[0]).toHaveTextContent(/weather.*"city": "York"/s);
    expect(calls[1]).toHaveTextContent(/book.*Failed.*full/s);
    expect(drawer.getByRole('region', { name: 'Metadata' })).toHaveTextContent('attempt3');
    expect(drawer.getByText('small-1')).toBeVisible();
  });

  test('shows hostile output as text, with invisible characters escaped', async () => {
    const hostile = '<img src=x onerror=alert(1)>\u202egnp.exe\u0007';
    const { drawer, container } = await open({
      input: { constructor: hostile },
      output: { output: hostile },
    });
    const output = drawer.getByRole('region', { name: 'Output' });
    expect(output).toHaveTextContent('<img src=x onerror=alert(1)>\\u{202e}gnp.exe\\u{7}');
    expect(container.querySelector('img')).toBeNull();
  });

  test('shows the trace as nested lists, and the contents of a span on demand', async () => {
    const { drawer, user, container } = await open({
      trace: [
        span({ id: 'a', name: 'research', kind: 'agent', durationMs: 9200 }),
        span({
          id: 'b',
          parent: 'a',
          name: 'chat',
          kind: 'model',
          model: {
            asked: 'gpt-4o',
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
    });
    const trace = within(drawer.getByRole('region', { name: 'Trace' }));
    expect(trace.getByText('7 spans, 1 failed')).toBeVisible();
    expect(trace.getByText('3 further spans not recorded.')).toBeVisible();
    const [agent, model, tool, flush] = trace.getAllByRole('listitem');
    expect(agent).toContainElement(model ?? null);
    expect(agent).toContainElement(tool ?? null);
    expect(agent).not.toContainElement(flush ?? null);
    expect(model).toHaveTextContent('Modelchatgpt-4oReplayed1,204 → 38 tokens · $0.0034 · 12 ms');
    expect(flush).toHaveTextContent('Not finished');
    expect(trace.getAllByText('no such index')).toHaveLength(1);
    await user.click(trace.getByRole('button', { name: /search/ }));
    expect(trace.getByRole('button', { name: /search/ })).toHaveAttribute('aria-expanded', 'true');
    expect(tool).toHaveTextContent('Arguments{ "query": "red fox" }');
    expect(tool).toHaveTextContent('attempt2');
    await user.click(trace.getByRole('button', { name: /chat/ }));
    expect(trace.getByText('I will <b>search</b>.')).toBeVisible();
    expect(model).toHaveTextContent('first token after 310 ms');
    expect(container.querySelector('b')).toBeNull();
  });

  test('tags a call of a tool with the fault that was injected', async () => {
    const call = {
      id: 'a',
      kind: 'tool',
      tool: { name: 'search' },
      attributes: { fault: 'slow 2s' },
    } as const;
    const { drawer } = await open({ trace: [span(call), span({ ...call, id: 'b', kind: 'other' })] });
    const spans = within(drawer.getByRole('region', { name: 'Trace' })).getAllByRole('listitem');
    expect(spans[0]).toHaveTextContent('ToolsearchFault: slow 2s');
    expect(spans[1]).not.toHaveTextContent('Fault:');
  });

  test('shows the first spans of a long trace, and the others on demand', async () => {
    const trace = Array.from({ length: 450 }, (_, id) => span({ id: `${id}`, name: `step ${id}` }));
    const { drawer, user } = await open({ trace });
    const section = within(drawer.getByRole('region', { name: 'Trace' }));
    expect(section.getAllByRole('listitem')).toHaveLength(200);
    await user.click(section.getByRole('button', { name: 'Show all 450 spans' }));
    expect(section.getAllByRole('listitem')).toHaveLength(450);
  });

  test('shows the conversation of the selected trial', async () => {
    const runs = [
      { ...execution(1, 'Booked.'), transcript: transcript({ turns: [turn({ reply: 'Booked.' })] }) },
      { ...execution(1, 'Sorry.'), transcript: transcript({ end: 'gave-up', simulated: true }) },
    ];
    const { drawer, user } = await open({ runs });
    expect(drawer.getByRole('region', { name: 'Conversation (trial 1)' })).toHaveTextContent('Booked.');
    await user.click(drawer.getByRole('button', { name: /Trial 2/ }));
    expect(drawer.getByRole('region', { name: 'Conversation (trial 2)' })).toHaveTextContent('User gave up');
  });

  test('an item without a conversation has no section for one', async () => {
    const { drawer } = await open({});
    expect(drawer.queryByRole('region', { name: /^Conversation/ })).toBeNull();
  });

  test('shows the metrics and the trace of the selected trial', async () => {
    const runs = [
      { ...execution(1, 'the red fox'), metrics: { retrieved: { value: 7.5, unit: 'documents' } } },
      { ...execution(1, 'the red fox'), trace: [span({ id: 'a', name: 'research' })] },
    ];
    const { drawer, user } = await open({ runs });
    expect(drawer.getByRole('region', { name: 'Metrics (trial 1)' })).toHaveTextContent(
      'retrieved7.5 documents',
    );
    expect(drawer.queryByRole('region', { name: /^Trace/ })).toBeNull();
    await user.click(drawer.getByRole('button', { name: /Trial 2/ }));
    expect(drawer.getByRole('region', { name: 'Trace (trial 2)' })).toHaveTextContent('research');
    expect(drawer.queryByRole('region', { name: /^Metrics/ })).toBeNull();
  });
});
