import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ItemGroup, Items, Overview } from '../../../api/types';
import { choose } from '../../../test/choose';
import { comparison } from '../../../test/comparison';
import { mockLayout } from '../../../test/layout';
import { renderPage } from '../../../test/render';
import { itemRow, items, overview, report, wholeItem } from '../../../test/run';
import { mockServer } from '../../../test/server';
import { Component } from '..';

const RUN = '/api/runs/a1b2c3';

beforeEach(() => {
  mockLayout();
  localStorage.clear();
});

interface Options {
  at?: string;
  matching?: number;
  /** A response of the items endpoint. */
  given?: Partial<Items>;
}

function open(run: Partial<Overview> = {}, { at = '', matching = 12, given }: Options = {}) {
  const response = items(matching);
  const requests = mockServer({
    [`${RUN}/overview`]: overview(run),
    [`${RUN}/items`]: (parameters: URLSearchParams) => ({ ...response(parameters), ...given }),
    [`${RUN}/items/key-0`]: wholeItem(0),
    [`${RUN}/items/key-1`]: wholeItem(1),
  });
  const page = renderPage(Component, { at: `/runs/a1b2c3${at}`, path: '/runs/:id' });
  const search = () => decodeURIComponent(page.router.state.location.search);
  /** The parameters of the latest request for items. */
  const asked = () => requests.findLast((url) => url.pathname === `${RUN}/items`)?.searchParams;
  return { requests, search, asked, ...page };
}

const columnNames = async () => {
  const table = await screen.findByRole('table', { name: 'Items' });
  return within(table)
    .getAllByRole('columnheader')
    .map((head) => head.getAttribute('aria-label'));
};

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
    open({}, { given: { items: rows, matching: 3 } });
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
    open({}, { given: { items: rows, matching: 2 } });
    const retried = await screen.findByRole('row', { name: /item 0/ });
    expect(within(retried).getByRole('cell', { name: 'Passed (2 attempts retried)' })).toBeVisible();
    expect(screen.getByRole('row', { name: /item 1/ })).not.toHaveTextContent('retried');
  });

  test('filters are written to the URL and sent to the server', async () => {
    const { search, user, asked } = open({}, { at: '?sort=cost' });
    await user.click(await screen.findByRole('button', { name: /Below pass mark 1/ }));
    await user.click(screen.getByRole('button', { name: 'Filter' }));
    await choose(user, 'Column', 'Latency');
    await choose(user, 'Operator', 'above');
    await user.type(screen.getByLabelText('Value'), '250');
    await user.click(screen.getByRole('button', { name: 'Add' }));
    expect(search()).toBe('?sort=cost&state=low&where=latency>250');
    await waitFor(() => expect(asked()?.getAll('where')).toEqual(['latency>250']));
    expect(asked()?.get('state')).toBe('low');
    await user.click(screen.getByRole('button', { name: 'Remove filter: Latency above 250' }));
    expect(search()).toBe('?sort=cost&state=low');
    await user.click(screen.getByRole('button', { name: 'Clear' }));
    expect(search()).toBe('?sort=cost');
  });

  test('a column sorts smallest first, then reversed', async () => {
    const { search, user } = open();
    const column = await screen.findByRole('columnheader', { name: 'Latency' });
    await user.click(within(column).getByRole('button', { name: 'Latency' }));
    expect(column).toHaveAttribute('aria-sort', 'ascending');
    await user.click(within(column).getByRole('button', { name: 'Latency' }));
    expect(column).toHaveAttribute('aria-sort', 'descending');
    expect(search()).toBe('?sort=latency&order=desc');
  });

  test('a bar of a distribution shows its items, and then all again', async () => {
    const { search, user } = open({}, { at: '?where=latency>9' });
    const bar = { name: '2 items from 0.20 to 0.30, below pass mark: show items' };
    await user.click(await screen.findByRole('button', bar));
    expect(search()).toBe('?where=latency>9&where=score.correctness>=0.2&where=score.correctness<0.3');
    expect(screen.getByRole('button', bar)).toHaveAttribute('aria-pressed', 'true');
    expect(screen.getByRole('button', { name: /^Remove filter: correctness at least 0.2/ })).toBeVisible();
    await user.click(screen.getByRole('button', bar));
    expect(search()).toBe('?where=latency>9');
  });

  test('the head of an evaluator has its mean and its change, which names the baseline', async () => {
    open({ run: report({ baseline: comparison() }) });
    const head = await screen.findByRole('columnheader', { name: 'correctness' });
    expect(head).toHaveTextContent('0.900−0.200 vs. baseline');
    expect(within(head).getByTitle(/^Baseline aaa, 2026-02-0\d/)).toBeVisible();
  });

  test('every evaluator has a column', async () => {
    const evaluators = ['a', 'b', 'c', 'd', 'e', 'f'];
    open({ run: report({ config: { ...report().config, evaluators } }) });
    expect(await columnNames()).toEqual(expect.arrayContaining(evaluators));
  });

  test('columns are selected, including those of fields, whose values are requested', async () => {
    const values = { expected: 'Paris', 'input.topic': 'billing' };
    const { search, user, asked } = open(
      {},
      { given: { items: [itemRow(0, { values })], matching: 1 }, at: '?columns=key,status' },
    );
    expect(await columnNames()).toEqual(['Item', 'Status']);
    await user.click(screen.getByRole('button', { name: 'Columns' }));
    const list = await screen.findByRole('list', { name: 'Columns' });
    expect(within(list).getByRole('checkbox', { name: 'Item' })).toBeDisabled();
    await user.click(within(list).getByRole('checkbox', { name: 'Status' }));
    await user.click(within(list).getByRole('checkbox', { name: 'Expected' }));
    await user.click(within(list).getByRole('checkbox', { name: 'topic (input)' }));
    expect(search()).toBe('?columns=key,expected,input.topic');
    await waitFor(() => expect(asked()?.get('columns')).toBe('expected,input.topic'));
    expect(await screen.findByRole('cell', { name: 'Paris' })).toBeVisible();
    expect(screen.getByRole('cell', { name: 'billing' })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Reset columns' }));
    expect(search()).toBe('');
  });

  test('columns are moved and resized by keyboard', async () => {
    const { search, user } = open({}, { at: '?columns=key,status,latency&widths=latency:100' });
    const latency = await screen.findByRole('columnheader', { name: 'Latency' });
    within(latency).getByRole('button', { name: 'Latency' }).focus();
    await user.keyboard('{Control>}{Shift>}{ArrowLeft}{/Shift}{/Control}');
    expect(await columnNames()).toEqual(['Item', 'Latency', 'Status']);
    Object.defineProperty(latency, 'offsetWidth', { value: 100 });
    await user.keyboard('{Shift>}{ArrowRight}{/Shift}');
    expect(search()).toBe('?columns=key,latency,status&widths=latency:124');
  });

  test('the menu of a column sorts, groups, moves and hides it', async () => {
    const { search, user } = open({}, { at: '?columns=key,status,latency' });
    const choose = async (action: string) => {
      await user.click(await screen.findByRole('button', { name: 'Column Status' }));
      await user.click(await screen.findByRole('menuitem', { name: action }));
    };
    await choose('Sort descending');
    expect(search()).toContain('sort=status&order=desc');
    await choose('Group by this column');
    expect(search()).toContain('group=status');
    await choose('Move right');
    expect(search()).toContain('columns=key,latency,status');
    await choose('Hide column');
    expect(search()).toMatch(/columns=key,latency(&|$)/);
    expect(await columnNames()).toEqual(['Item', 'Latency']);
  });

  test('groups have counts and means, and can be closed', async () => {
    const groups: ItemGroup[] = [
      {
        value: 'billing',
        start: 0,
        items: 2,
        passed: 1,
        belowPassMark: 1,
        errors: 0,
        scores: { correctness: 0.4 },
      },
      { value: null, start: 2, items: 1, passed: 0, belowPassMark: 0, errors: 1, scores: {} },
    ];
    const { user } = open(
      {},
      {
        at: '?group=input.topic',
        given: { items: [0, 1, 2].map((index) => itemRow(index)), matching: 3, groups },
      },
    );
    const billing = await screen.findByRole('button', { name: /^billing/ });
    expect(billing).toHaveTextContent('billing2 items, 1 below');
    expect(billing.closest('tr')).toHaveTextContent('0.400');
    expect(screen.getByRole('button', { name: /^No value/ })).toHaveTextContent('1 item, 1 error');
    expect(screen.getByRole('link', { name: 'item 1' })).toBeVisible();
    await user.click(billing);
    expect(billing).toHaveAttribute('aria-expanded', 'false');
    expect(screen.queryByRole('link', { name: 'item 1' })).toBeNull();
    expect(screen.getByRole('link', { name: 'item 2' })).toBeVisible();
  });

  test('the smallest of very many groups are joined, and items sorted by beginnings of texts are said to be', async () => {
    const joined = {
      value: null,
      joined: 40,
      start: 0,
      items: 50,
      passed: 50,
      belowPassMark: 0,
      errors: 0,
      scores: {},
    };
    const given = { items: [itemRow(0)], matching: 50, groups: [joined], sortPrefix: 32 };
    open({}, { at: '?group=input.topic&sort=reason.tone', given });
    expect(await screen.findByRole('button', { name: /^40 smaller groups/ })).toHaveTextContent('50 items');
    expect(screen.getByText('Sorted by the first 32 characters')).toBeVisible();
  });

  test('views are saved, applied, renamed and deleted', async () => {
    const { search, user } = open({}, { at: '?state=low&item=key-0' });
    await user.click(await screen.findByRole('button', { name: 'Views' }));
    await user.type(await screen.findByLabelText('Name of the view'), 'worst{Enter}');
    expect(screen.getByRole('button', { name: 'worst' })).toHaveAttribute('aria-current', 'true');
    await user.click(screen.getByRole('button', { name: 'Rename worst' }));
    await user.clear(screen.getByLabelText('New name'));
    await user.type(screen.getByLabelText('New name'), 'low ones{Enter}');
    await user.keyboard('{Escape}');
    await user.click(screen.getByRole('button', { name: 'Clear' }));
    await user.click(screen.getByRole('button', { name: 'Views' }));
    await user.click(await screen.findByRole('button', { name: 'low ones' }));
    expect(search()).toBe('?state=low');
    await user.click(screen.getByRole('button', { name: 'Delete low ones' }));
    expect(screen.queryByRole('button', { name: 'low ones' })).toBeNull();
  });

  test('a name is cut in the middle, so that its end stays', async () => {
    const name = 'refund-within-thirty-days-of-purchase-case-17';
    open({}, { given: { items: [itemRow(0, { name })], matching: 1 } });
    const link = await screen.findByRole('link', { name });
    const shown = [...link.querySelectorAll('[aria-hidden]')];
    expect(shown.map((part) => part.textContent).join('')).toBe(name);
    expect(shown[0]).toHaveClass('text-ellipsis');
    expect(shown.at(-1)).toHaveTextContent('e-case-17');
    expect(shown.at(-1)).toHaveClass('shrink-0');
  });

  test('the next item keeps the tab, but not the trial and the span of this one', async () => {
    const { search, user } = open({}, { at: '?item=key-0&tab=trace&span=3&execution=2' });
    await screen.findByText('1 of 57');
    await user.keyboard('j');
    await waitFor(() => expect(search()).toBe('?tab=trace&item=key-1'));
    await user.keyboard('{Escape}');
    await waitFor(() => expect(search()).toBe('?tab=trace'));
  });

  test('the height of the rows is chosen', async () => {
    const { search, user } = open();
    await user.click(await screen.findByRole('button', { name: 'Tall rows' }));
    expect(search()).toBe('?rows=tall');
    expect(screen.getByRole('button', { name: 'Tall rows' })).toHaveAttribute('aria-pressed', 'true');
  });

  test('j and k move between the rows without a focus, and Enter opens', async () => {
    const { search, user } = open();
    await screen.findByRole('link', { name: 'item 0' });
    await user.keyboard('j');
    await waitFor(() => expect(screen.getByRole('link', { name: 'item 0' })).toHaveFocus());
    await user.keyboard('j');
    await waitFor(() => expect(screen.getByRole('link', { name: 'item 1' })).toHaveFocus());
    await user.keyboard('k{Enter}');
    await waitFor(() => expect(search()).toBe('?item=key-0'));
    await user.keyboard('{Escape}');
    await waitFor(() => expect(search()).toBe(''));
  });

  test('a click anywhere in a row opens its item', async () => {
    const { search, user } = open();
    await user.click(await screen.findByText('answer 1'));
    expect(search()).toBe('?item=key-1');
  });

  test('a score below its pass mark is amber, an error red', async () => {
    const rows = [
      itemRow(0, { passed: false, low: ['correctness'], scores: { correctness: 0.2 } }),
      itemRow(1, { evalErrors: ['correctness'], scores: {} }),
    ];
    open({}, { given: { items: rows, matching: 2 } });
    expect(await screen.findByText('0.200')).toHaveClass('text-warn');
    expect(screen.getByText('no score')).toHaveClass('text-bad');
  });

  test('Enter opens an item, and keys go to its neighbours', async () => {
    const { router, user } = open();
    (await screen.findByRole('link', { name: 'item 0' })).focus();
    await user.keyboard('{Enter}');
    const pane = await screen.findByRole('region', { name: 'Item item 0' });
    expect(await within(pane).findByText('1 of 57')).toBeVisible();
    expect(within(pane).getByRole('button', { name: 'Previous item' })).toBeDisabled();
    await user.keyboard('j');
    expect(await screen.findByText('2 of 57')).toBeVisible();
    expect(router.state.location.search).toBe('?item=key-1');
  });

  test('the neighbours of an open item are prefetched', async () => {
    const { requests } = open({}, { at: '?item=key-0' });
    await screen.findByRole('region', { name: 'Item item 0' });
    await waitFor(() => expect(requests.map((url) => url.pathname)).toContain(`${RUN}/items/key-1`));
  });

  test('closing the pane focuses the row of its item', async () => {
    const { router, user } = open({}, { at: '?item=key-1' });
    const pane = await screen.findByRole('region', { name: 'Item item 1' });
    await within(pane).findByText('2 of 57');
    await user.click(within(pane).getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('region', { name: 'Item item 1' })).toBeNull();
    expect(router.state.location.search).toBe('');
    await waitFor(() => expect(screen.getByRole('link', { name: 'item 1' })).toHaveFocus());
  });

  test('an unknown item is reported', async () => {
    open({}, { at: '?item=gone' });
    expect(await screen.findByText('Item not found')).toBeVisible();
  });
});
