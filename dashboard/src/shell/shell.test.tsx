import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { renderPage } from '../test/render';
import { overview } from '../test/run';
import { liveRun, runRow, runs } from '../test/runs';
import { mockServer } from '../test/server';
import { Shell } from './shell';

const INDEX = { name: 'Cobalt', version: '0.1.0', project: 'helpdesk', endpoints: [] };
const NEWER = runRow({ id: 'newer', timestamp: '2026-02-05T10:00:00.000Z' });
const OLDER = runRow({ id: 'older', timestamp: '2026-02-04T10:00:00.000Z' });

function show(at = '/') {
  const requests = mockServer({
    '/api': INDEX,
    '/api/runs': runs([NEWER, OLDER]),
    '/api/runs/a1b2c3/overview': overview(),
  });
  return { requests, ...renderPage(Shell, { at, live: [liveRun()] }) };
}

async function showPalette() {
  const shown = show();
  await shown.user.keyboard('{Control>}k{/Control}');
  const palette = within(await screen.findByRole('dialog', { name: 'Go to' }));
  await palette.findByRole('option', { name: 'Trends: answers' });
  return { ...shown, palette };
}

test('the header has the project and the number of runs in progress', async () => {
  show();
  expect(await screen.findByText('helpdesk')).toBeVisible();
  expect(screen.getByRole('link', { name: '1 run in progress' })).toBeVisible();
});

test('a remote store is named, and a warning says since when its list could not be synced', async () => {
  const url = 's3://evals/desk';
  const failure = { since: '2026-02-05T10:02:00.000Z', message: 'no connection; check the network' };
  const remote = { url, syncedAt: '2026-02-05T10:01:00.000Z', failure };
  mockServer({ '/api': { ...INDEX, remote } });
  renderPage(Shell, { at: '/', live: [] });
  expect(await screen.findByTitle(`Runs of the remote store ${url}`)).toHaveTextContent(url);
  const warning = screen.getByRole('status');
  expect(warning).toHaveTextContent(
    /^The list of runs could not be synced since .*; it is as of .*: no connection/,
  );
  expect(warning.querySelectorAll('time')).toHaveLength(2);
});

test('the header has the experiments and all runs, and marks the current page', () => {
  show('/?view=runs&sort=cost');
  const pages = within(screen.getByRole('navigation', { name: 'Pages' }));
  expect(pages.getByRole('link', { name: 'All runs' })).toHaveAttribute('aria-current', 'page');
  expect(pages.getByRole('link', { name: 'Experiments' })).not.toHaveAttribute('aria-current');
  expect(screen.queryByRole('navigation', { name: 'Breadcrumbs' })).not.toBeInTheDocument();
});

test('breadcrumbs lead from an item to its run, experiment and all experiments', async () => {
  show('/runs/a1b2c3/items/key-7');
  const trail = within(screen.getByRole('navigation', { name: 'Breadcrumbs' }));
  expect(await trail.findByRole('link', { name: 'answers' })).toHaveAttribute('href', '/experiments/answers');
  expect(trail.getByRole('link', { name: 'Experiments' })).toHaveAttribute('href', '/');
  expect(trail.getByRole('link', { name: /^Run of 2026-02-05/ })).toHaveAttribute('href', '/runs/a1b2c3');
  expect(trail.getByText('Item key-7').closest('[aria-current=page]')).not.toBeNull();
});

test('breadcrumbs name an experiment', () => {
  show('/experiments/a%20long%20name%20of%20an%20experiment');
  const current = document.querySelector('[aria-current=page] .sr-only');
  expect(current).toHaveTextContent('a long name of an experiment');
});

test('the palette finds runs on the server and opens one', async () => {
  const { user, palette, requests, router } = await showPalette();
  await user.type(palette.getByRole('combobox'), 'older');
  await waitFor(() => expect(requests.at(-1)?.search).toBe('?search=older&limit=20'));
  await user.click(await palette.findByRole('option', { name: /answers\s*older/ }));
  expect(router.state.location.pathname).toBe('/runs/older');
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
});

test('the palette navigates by keyboard', async () => {
  const { user, palette, router } = await showPalette();
  await user.type(palette.getByRole('combobox'), 'trends ans');
  await waitFor(() => expect(palette.queryByRole('option', { name: 'All runs' })).not.toBeInTheDocument());
  await user.keyboard('{Enter}');
  expect(router.state.location.pathname + router.state.location.search).toBe(
    '/experiments/answers?tab=trends',
  );
});

test('the palette compares the latest two runs of an experiment, the older one as the reference', async () => {
  const { user, palette, router } = await showPalette();
  await user.click(palette.getByRole('option', { name: 'Compare the latest two runs of answers' }));
  await waitFor(() => expect(router.state.location.search).toBe('?compare=older'));
  expect(router.state.location.pathname).toBe('/runs/newer');
});

test('the palette changes the theme', async () => {
  const { user, palette } = await showPalette();
  await user.click(palette.getByRole('option', { name: /Switch to dark theme/ }));
  expect(document.documentElement).toHaveAttribute('data-theme', 'dark');
});

test('a question mark shows the shortcuts', async () => {
  const { user } = show();
  await user.keyboard('?');
  const dialog = within(await screen.findByRole('dialog', { name: 'Keyboard shortcuts' }));
  expect(dialog.getByText('Select run')).toBeVisible();
  await user.click(dialog.getByRole('button', { name: 'Close' }));
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
});
