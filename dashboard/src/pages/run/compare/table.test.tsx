import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import type { ItemRow, Items } from '../../../api/types';
import { compared, comparedItem } from '../../../test/comparison';
import { mockLayout } from '../../../test/layout';
import { renderPage } from '../../../test/render';
import { itemRow, overview, report, wholeItem } from '../../../test/run';
import { mockServer } from '../../../test/server';
import { Component } from '..';

beforeEach(() => mockLayout());

type ComparedRow = NonNullable<NonNullable<ItemRow['compared']>[number]>;

const inRun = (id: string, score: number, given: Partial<ComparedRow> = {}): ComparedRow => ({
  id,
  scores: { correctness: score },
  passed: true,
  status: 'ok',
  low: [],
  latencyMs: 300,
  changed: false,
  ...given,
});

const row = (index: number, score: number, given: Partial<ItemRow>) =>
  itemRow(index, { scores: { correctness: score }, ...given });

function open(
  rows: ItemRow[],
  { query = '?compare=aaa', counts = {} as Partial<NonNullable<Items['counts']>> } = {},
) {
  const requests = mockServer({
    '/api/runs/bbb/overview': overview({ run: report({ id: 'bbb' }) }),
    '/api/runs/bbb/items': {
      items: rows,
      matching: rows.length,
      total: rows.length,
      fields: [],
      counts: { regressed: 2, improved: 1, changed: 3, onlyHere: 0, onlyThere: 0, ...counts },
    },
    '/api/runs/bbb/items/key-0': wholeItem(0),
    '/api/compare': (parameters: URLSearchParams) =>
      compared({ items: parameters.has('offset') ? [comparedItem({ key: 'key-0' })] : [], itemAt: 0 }),
  });
  return { requests, ...renderPage(Component, { at: `/runs/bbb${query}`, path: '/runs/:id' }) };
}

const itemsOf = (requests: URL[]) => requests.filter(({ pathname }) => pathname === '/api/runs/bbb/items');

test('each score has its change, and its column that of the mean', async () => {
  open([
    row(0, 0.4, { compared: [inRun('aaa', 0.9)] }),
    row(1, 0.9, { compared: [inRun('aaa', 0.9)] }),
    row(2, 0.9, { compared: [inRun('aaa', 0.5)] }),
  ]);
  const table = await screen.findByRole('table', { name: 'Items' });
  const head = within(table).getByRole('columnheader', { name: 'correctness' });
  await waitFor(() => expect(head).toHaveTextContent('−0.200 vs. reference'));
  const changes = ['−0.500', 'no change', '+0.400'];
  for (const [index, change] of changes.entries()) {
    expect(await within(table).findByRole('row', { name: new RegExp(`item ${index}`) })).toHaveTextContent(
      change,
    );
  }
});

test('the largest regressions come first, and any change can be sorted', async () => {
  const { requests, user, router } = open([row(0, 0.4, { compared: [inRun('aaa', 0.9)] })]);
  const change = await screen.findByRole('button', { name: 'Sort by change: −0.200 vs. reference' });
  expect(Object.fromEntries(itemsOf(requests)[0]?.searchParams ?? [])).toMatchObject({
    compare: 'aaa',
    sort: 'change',
  });
  await user.click(change);
  expect(router.state.location.search).toBe('?compare=aaa&sort=change%3Acorrectness');
  await waitFor(() => expect(itemsOf(requests).at(-1)?.searchParams.get('sort')).toBe('change:correctness'));
});

test('only regressed, improved or changed items are shown, with their numbers', async () => {
  const { requests, user, router } = open([row(0, 0.4, { compared: [inRun('aaa', 0.9)] })]);
  await user.click(await screen.findByRole('button', { name: 'Regressed 2' }));
  expect(router.state.location.search).toBe('?compare=aaa&only=regressed');
  await waitFor(() => expect(itemsOf(requests).at(-1)?.searchParams.get('only')).toBe('regressed'));
  for (const name of ['Improved 1', 'Changed 3']) expect(screen.getByRole('button', { name })).toBeVisible();
  await user.click(
    within(screen.getByRole('group', { name: 'Changes' })).getByRole('button', { name: 'All' }),
  );
  expect(router.state.location.search).toBe('?compare=aaa');
});

test('items that only one run has are marked and counted, and open in the run that has them', async () => {
  open(
    [
      row(0, 0.4, { compared: [null] }),
      row(1, 0, { scores: {}, isMissing: true, compared: [inRun('aaa', 0.9)] }),
    ],
    { counts: { onlyHere: 1, onlyThere: 1 } },
  );
  expect(await screen.findByText('1 item not in the reference, 1 item not in this run')).toBeVisible();
  expect(await screen.findByRole('row', { name: /item 0/ })).toHaveTextContent('only in this run');
  const missing = screen.getByRole('row', { name: /item 1/ });
  expect(missing).toHaveTextContent('Not in this run');
  expect(missing).not.toHaveTextContent('Passed');
  expect(within(missing).getByRole('link')).toHaveAttribute('href', '/runs/aaa/items/key-1');
});

test('items that fail newly or whose input changed are marked', async () => {
  open([
    row(0, 0, { status: 'error', passed: false, compared: [inRun('aaa', 0.9)] }),
    row(1, 0.9, { compared: [inRun('aaa', 0, { status: 'timeout', changed: true })] }),
  ]);
  expect(await screen.findByRole('row', { name: /item 0/ })).toHaveTextContent('new failure');
  const other = screen.getByRole('row', { name: /item 1/ });
  expect(other).toHaveTextContent('failed before');
  expect(other).toHaveTextContent('input changed');
});

test('several runs each have their change', async () => {
  open([row(0, 0.4, { compared: [inRun('aaa', 0.9), inRun('ccc', 1), null] })], {
    query: '?compare=aaa,ccc,ddd',
  });
  const item = await screen.findByRole('row', { name: /item 0/ });
  expect(item).toHaveTextContent(/B−0\.500C\+0\.100D–, no score to compare/);
});

test('the pane of an item has the outputs of both runs', async () => {
  open([row(0, 0.4, { compared: [inRun('aaa', 0.9)] })], { query: '?compare=aaa&item=key-0' });
  const section = await screen.findByRole('region', { name: 'Compared with the reference' });
  await waitFor(() => expect(section).toHaveTextContent(/Reference\s*Paris.*This run\s*Lyon/));
});

test('outside compare mode, no change is sorted or shown', async () => {
  const { requests } = open([row(0, 0.4, {})], { query: '?sort=change&only=regressed' });
  await screen.findByRole('table', { name: 'Items' });
  const query = itemsOf(requests)[0]?.searchParams;
  expect([query?.get('sort'), query?.get('only')]).toEqual([null, null]);
  expect(screen.queryByRole('group', { name: 'Changes' })).toBeNull();
});
