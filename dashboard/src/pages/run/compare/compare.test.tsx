import { screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import type { Overview } from '../../../api/types';
import {
  compared,
  comparedItem,
  comparedRun,
  comparison,
  difference,
  output,
} from '../../../test/comparison';
import { transcript, turn } from '../../../test/conversation';
import { renderPage } from '../../../test/render';
import { overview, report, traffic } from '../../../test/run';
import { runRow, runs } from '../../../test/runs';
import { errorResponse, mockServer } from '../../../test/server';
import { ComparisonHead } from '.';
import { CompareActions } from './actions';
import { ComparedOutputs } from './compared-outputs';

const run = report({ id: 'bbb' });
const at = '/runs/bbb?compare=aaa';

const drawHead = (response: object, address = at, given: Partial<Overview> = {}) => {
  const requests = mockServer({ '/api/compare': response, '/api/runs': runs([runRow({ id: 'ccc' })]) });
  const shown = overview({ run, ...given });
  return {
    requests,
    ...renderPage(() => <ComparisonHead overview={shown} />, { at: address, path: '/runs/bbb' }),
  };
};

describe('the head of a comparison', () => {
  test('has the change of each score, its CI, p-value and verdict, regressions first', async () => {
    const tone = difference({
      name: 'tone',
      difference: 0.05,
      ci95: null,
      pAdjusted: null,
      verdict: 'better',
    });
    drawHead(compared({ comparisons: [comparison({ evaluators: [tone, difference()] })] }));
    const list = await screen.findByRole('list', { name: 'Changes of scores' });
    expect(
      within(list)
        .getAllByRole('listitem')
        .map((item) => item.textContent),
    ).toEqual(['Regressedcorrectness−0.20095% CI −0.310 to −0.090, p <0.001', 'Improvedtone+0.050no CI']);
  });

  test('asks for the comparison without its items', async () => {
    const { requests } = drawHead(compared());
    await screen.findByRole('list', { name: 'Compared runs' });
    const query = Object.fromEntries(requests[0]?.searchParams ?? []);
    expect(query).toEqual({ a: 'aaa', b: 'bbb', limit: '0' });
  });

  test('calls the reference a baseline only if it is the saved one', async () => {
    const { unmount } = drawHead(compared());
    expect(await screen.findByRole('button', { name: /^Reference: aaa/ })).toBeVisible();
    unmount();
    drawHead(compared(), at, { run: report({ id: 'bbb', baseline: comparison() }) });
    expect(await screen.findByRole('button', { name: /^Baseline: aaa/ })).toBeVisible();
    expect(screen.queryByText('Reference')).toBeNull();
  });

  test('unfolds all differences with intervals and min detectable differences', async () => {
    const latency = difference({
      name: 'latency',
      quantity: 'latency',
      base: 120,
      other: 84,
      difference: -36,
    });
    const { user } = drawHead(
      compared({ comparisons: [comparison({ amounts: [{ ...latency, verdict: 'better' }] })] }),
    );
    await user.click(await screen.findByRole('button', { name: 'Intervals and metrics' }));
    const scores = screen.getByRole('table', { name: 'Scores vs. reference' });
    const row = within(scores).getByRole('row', { name: /correctness/ });
    expect(within(row).getByRole('img', { name: '95% CI −0.310 to −0.090' })).toBeVisible();
    expect(row).toHaveTextContent(/0\.900.*0\.700.*<0\.001Regressed0\.120/);
    expect(row).toHaveTextContent('12 items: 1 better, 8 worse, 3 equal');
    const metrics = screen.getByRole('table', {
      name: 'Latency, tokens, agent cost and errors vs. reference',
    });
    expect(within(metrics).getByRole('row', { name: /latency/ })).toHaveTextContent(/−36 ms.*Improved/);
  });

  test('names the items that only one run has', async () => {
    const items = { matched: 9, changed: [], added: ['new-item'], removed: ['old-item'] };
    drawHead(compared({ comparisons: [comparison({ items })] }));
    expect(
      await screen.findByText(
        '9 items in both. Only in the reference: old-item. Only in this run: new-item.',
      ),
    ).toBeVisible();
  });

  test('lists problems with the comparison', async () => {
    drawHead(compared({ comparisons: [comparison({ notes: ['run `aaa` is partial'] })] }));
    const notes = await screen.findByRole('list', { name: 'Comparison warnings' });
    expect(notes).toHaveTextContent('run aaa is partial');
  });

  test('lists diverged items if the note does not name them all', async () => {
    const diverged = Array.from({ length: 6 }, (_, index) => ({
      key: `item-${index}`,
      message: index || null,
    }));
    const asked = { items: 1_310, same: 3, diverged };
    drawHead(compared({ comparisons: [comparison({ asked })] }));
    const list = await screen.findByRole('list', { name: 'Diverged items', hidden: true });
    expect(screen.getByText('1,307 diverged items')).toBeVisible();
    expect(
      within(list)
        .getAllByRole('listitem', { hidden: true })
        .map((line) => line.textContent),
    ).toEqual([
      'item-0 at the model, the tools or the settings',
      ...[1, 2, 3, 4, 5].map((number) => `item-${number} at message ${number}`),
      'and 1,301 more',
    ]);
  });

  test('marks a replayed run', async () => {
    const summary = { ...comparedRun().summary, traffic: traffic() };
    drawHead(compared({ runs: [comparedRun(), comparedRun({ id: 'bbb', summary })] }));
    const [a, b] = within(await screen.findByRole('list', { name: 'Compared runs' })).getAllByRole(
      'listitem',
    );
    expect(a).not.toHaveTextContent('as recorded');
    expect(b).toHaveTextContent('10 of 12 as recorded');
  });

  test('of three runs has the verdicts of each, and any can be removed', async () => {
    const three = compared({
      runs: ['aaa', 'bbb', 'ccc'].map((id) => comparedRun({ id })),
      comparisons: [comparison(), comparison({ evaluators: [difference({ verdict: 'better' })] })],
    });
    const { requests, user, router } = drawHead(three, `${at},ccc&search=paris&only=regressed`);
    expect(await screen.findByText('Improved:')).toBeVisible();
    expect(Object.fromEntries(requests[0]?.searchParams ?? [])).toMatchObject({
      a: 'aaa',
      b: 'bbb',
      c: 'ccc',
    });
    await user.click(screen.getByRole('button', { name: /^Run C: ccc/ }));
    await user.click(await screen.findByRole('menuitem', { name: 'Remove from the comparison' }));
    expect(router.state.location.search).toBe('?compare=aaa&search=paris');
  });

  test('lets another run become the reference', async () => {
    const { user, router } = drawHead(compared(), `${at}&search=paris`);
    await user.click(await screen.findByRole('button', { name: /^This run: bbb/ }));
    await user.click(await screen.findByRole('menuitem', { name: 'Use as the reference' }));
    expect(router.state.location.pathname).toBe('/runs/aaa');
    expect(router.state.location.search).toBe('?compare=bbb&search=paris');
  });

  test('takes in another run', async () => {
    const { user, router } = drawHead(compared());
    await user.click(await screen.findByRole('button', { name: 'Add a run' }));
    const dialog = await screen.findByRole('dialog', { name: 'Select run C' });
    await user.click(await within(dialog).findByRole('button', { name: /ccc/ }));
    expect(router.state.location.search).toBe('?compare=aaa,ccc');
  });

  test('takes at most eight runs', async () => {
    const ids = ['aaa', 'bbb', 'ccc', 'ddd', 'eee', 'fff', 'ggg', 'hhh'];
    const { requests } = drawHead(
      compared({ runs: ids.map((id) => comparedRun({ id })) }),
      '/runs/bbb?compare=aaa,ccc,ddd,eee,fff,ggg,hhh,iii',
    );
    expect(await screen.findByRole('button', { name: /^Run H: hhh/ })).toBeVisible();
    expect(requests[0]?.searchParams.get('h')).toBe('hhh');
    expect(screen.queryByRole('button', { name: 'Add a run' })).toBeNull();
  });

  test('ends, and with it the order by change', async () => {
    const { user, router } = drawHead(compared(), `${at}&sort=change&item=france&search=x`);
    await user.click(await screen.findByRole('button', { name: 'End the comparison' }));
    expect(router.state.location.search).toBe('?search=x');
  });

  test('reports an unknown run, and can be ended', async () => {
    const { user, router } = drawHead(errorResponse(404, 'run `aaa` not found'));
    expect(await screen.findByRole('alert')).toHaveTextContent(/Run not found.*run aaa not found/);
    await user.click(screen.getByRole('button', { name: 'End the comparison' }));
    expect(router.state.location.search).toBe('');
  });

  test('is absent outside compare mode', () => {
    const { requests, container } = drawHead(compared(), '/runs/bbb');
    expect(container).toBeEmptyDOMElement();
    expect(requests).toHaveLength(0);
  });
});

describe('starting a comparison', () => {
  const drawActions = (given: Partial<Overview>) => {
    mockServer({ '/api/runs': runs([runRow({ id: 'old', name: 'others' })]) });
    const shown = overview({ run, ...given });
    return renderPage(() => <CompareActions overview={shown} />, { at: '/runs/bbb', path: '/runs/bbb' });
  };

  test('is one click for the previous run and the baseline', () => {
    drawActions({
      run: report({ id: 'bbb', baseline: comparison() }),
      previous: { id: 'before', timestamp: '2026-02-04T10:00:00Z' },
    });
    expect(screen.getByRole('link', { name: 'Compare with previous run' })).toHaveAttribute(
      'href',
      '/runs/bbb?compare=before',
    );
    expect(screen.getByRole('link', { name: 'Compare with baseline' })).toHaveAttribute(
      'href',
      '/runs/bbb?compare=aaa',
    );
  });

  test('is possible with any run', async () => {
    const { user, router } = drawActions({});
    await user.click(screen.getByRole('button', { name: 'Compare with another run' }));
    const dialog = await screen.findByRole('dialog', { name: 'Select the reference' });
    await user.click(await within(dialog).findByRole('button', { name: /others/ }));
    expect(router.state.location.search).toBe('?compare=old');
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});

describe('the compared outputs of an item', () => {
  const drawItem = (item: ReturnType<typeof comparedItem>, address = at) => {
    const requests = mockServer({
      '/api/compare': (query: URLSearchParams) =>
        compared(query.has('item') ? { itemAt: 7, items: [] } : { items: [item] }),
    });
    const page = () => <ComparedOutputs run={run} itemKey={item.key} />;
    return { requests, ...renderPage(page, { at: address, path: '/runs/bbb' }) };
  };

  test('are beside each other, with scores and a link to the other run', async () => {
    const { requests } = drawItem(comparedItem());
    const outputs = await screen.findByRole('region', { name: 'Compared outputs' });
    expect(outputs).toHaveTextContent(/Reference\s*Paris.*This run\s*Lyon/);
    const scores = screen.getByRole('table', { name: 'Evaluations' });
    expect(within(scores).getByRole('row', { name: /^correctness/ })).toHaveTextContent(
      /1\.000.*0\.000.*−1\.000/,
    );
    expect(screen.getByRole('link', { name: 'Open in the reference' })).toHaveAttribute(
      'href',
      '/runs/aaa?item=france',
    );
    expect(Object.fromEntries(requests.at(-1)?.searchParams ?? [])).toMatchObject({
      offset: '7',
      limit: '1',
    });
  });

  test('of three runs are each compared with the reference', async () => {
    drawItem(comparedItem({ outputs: [output(), output(), output()] }), `${at},ccc`);
    expect(
      await screen.findByRole('region', { name: 'Outputs of the reference and this run' }),
    ).toBeVisible();
    expect(screen.getByRole('region', { name: 'Outputs of the reference and run C' })).toBeVisible();
  });

  test('have the conversations', async () => {
    const said = (reply: string) => transcript({ turns: [turn({ reply })] });
    const outputs = [output({ transcript: said('Friday?') }), output({ transcript: said('Saturday?') })];
    const { user } = drawItem(comparedItem({ outputs }));
    await user.click(await screen.findByText('Conversations'));
    expect(screen.getByRole('region', { name: 'Conversation of reference' })).toHaveTextContent('Friday?');
    expect(screen.getByRole('region', { name: 'Conversation of this run' })).toHaveTextContent('Saturday?');
  });

  test('mark the latency of a replayed item', async () => {
    const recorded = { replayed: 3, live: 0, recordedAt: '2026-01-21T12:00:00.000Z', diverged: false };
    drawItem(comparedItem({ outputs: [output(), output({ traffic: recorded })] }));
    const scores = await screen.findByRole('table', { name: 'Evaluations' });
    expect(within(scores).getByRole('row', { name: /^Latency/ })).toHaveTextContent(
      'Latency120 ms 120 ms as recorded',
    );
  });

  test('show the error of an item that now fails', async () => {
    const failed = output({
      output: null,
      status: 'error',
      error: 'the model is gone',
      scores: {},
      evaluations: {},
    });
    drawItem(comparedItem({ outputs: [output(), failed] }));
    expect(await screen.findByText('the model is gone')).toBeVisible();
  });

  test('say that only one run has the item, or that its input changed', async () => {
    drawItem(comparedItem({ outputs: [output(), null], contentChanged: true }));
    expect(await screen.findByText('Only in the reference')).toBeVisible();
    expect(screen.getByText(/^Input changed/)).toBeVisible();
  });

  test('accept an evaluator with the name of an object property', async () => {
    drawItem(
      comparedItem({
        outputs: [
          output({ scores: { constructor: 0.5 } as never, evaluations: {} }),
          output({ scores: {}, evaluations: {} }),
        ],
      }),
    );
    const scores = await screen.findByRole('table', { name: 'Evaluations' });
    expect(within(scores).getByRole('row', { name: /^constructor/ })).toHaveTextContent(
      'constructorA0.500Bno score',
    );
  });
});
