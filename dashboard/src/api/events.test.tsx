// The event stream is open while the page is visible, reconnects, and keeps the state of runs up to date.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeEventSource } from '../test/event-source';
import { overview, report } from '../test/run';
import { liveRun } from '../test/runs';
import { mockServer } from '../test/server';
import { LiveProvider, useLive, useOverview } from './events';
import type { LiveRun, RunState } from './types';

/** Shows or hides the page. */
function show(visibility: DocumentVisibilityState) {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(visibility);
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
}

function State({ id }: { id: string }) {
  return (
    <p>
      {id} is {useOverview(id).data?.state}, {useLive().isConnected ? 'connected' : 'disconnected'}
    </p>
  );
}

/** Shows the state of runs; `server` has their states on the server. */
async function follow(server: Record<string, RunState>) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const invalidated = vi.spyOn(client, 'invalidateQueries');
  const ids = Object.keys(server);
  const response = (id: string) => () => overview({ run: report({ id }), state: server[id] });
  const requests = mockServer(
    Object.fromEntries(ids.map((id) => [`/api/runs/${id}/overview`, response(id)] as const)),
  );
  const page = render(
    <QueryClientProvider client={client}>
      <LiveProvider>
        {ids.map((id) => (
          <State key={id} id={id} />
        ))}
      </LiveProvider>
    </QueryClientProvider>,
  );
  for (const id of ids) await screen.findByText(new RegExp(`${id} is ${server[id]}`));
  return { page, invalidated, requests };
}

const live = (...runs: LiveRun[]) => ({ type: 'live', runs }) as const;
const running = (id: string, finishedItems = 1) => liveRun({ id, state: 'running', finishedItems });
const interrupted = (id: string, finishedItems = 1) => liveRun({ id, state: 'cut-off', finishedItems });

beforeEach(() => {
  vi.restoreAllMocks();
  FakeEventSource.install();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('event stream', () => {
  test('is open only while the page is visible', async () => {
    const { page } = await follow({});
    expect(FakeEventSource.open).toHaveLength(1);
    show('hidden');
    expect(FakeEventSource.open).toHaveLength(0);
    show('visible');
    show('visible');
    expect(FakeEventSource.open).toHaveLength(1);
    page.unmount();
    expect(FakeEventSource.open).toHaveLength(0);
    show('visible');
    expect(FakeEventSource.open).toHaveLength(0);
  });

  test.each([
    ['hidden page', () => [show('hidden'), show('visible')]],
    ['cut connection', () => FakeEventSource.current.cut()],
    ['network change', () => act(() => void window.dispatchEvent(new Event('online')))],
  ])('reloads everything after a %s', async (_, interrupt) => {
    const { invalidated } = await follow({});
    FakeEventSource.current.accept(live());
    expect(invalidated).not.toHaveBeenCalled();
    interrupt();
    FakeEventSource.current.accept(live());
    for (const key of ['runs', 'run', 'experiments', 'group', 'jobs', 'index', 'session']) {
      expect(invalidated).toHaveBeenCalledWith({ queryKey: [key] });
    }
  });

  test('reloads everything if it opens late', async () => {
    const { invalidated } = await follow({});
    FakeEventSource.current.cut();
    FakeEventSource.current.accept(live());
    expect(invalidated).toHaveBeenCalledWith({ queryKey: ['runs'] });
  });

  test('is opened again after an HTTP error', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    await follow({ a1: 'finished' });
    FakeEventSource.current.cut({ isRetried: false });
    expect(screen.getByText(/disconnected/)).toBeVisible();
    act(() => void vi.advanceTimersByTime(6000));
    FakeEventSource.current.accept(live());
    expect(screen.getByText(/, connected/)).toBeVisible();
  });

  test('is opened again after a silence', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    await follow({});
    const first = FakeEventSource.current;
    first.accept(live());
    for (let seconds = 0; seconds < 120; seconds += 15) {
      act(() => void vi.advanceTimersByTime(15_000));
      first.send({ type: 'alive' });
    }
    expect(FakeEventSource.current).toBe(first);
    act(() => void vi.advanceTimersByTime(46_000));
    expect(FakeEventSource.current).not.toBe(first);
  });

  test('is opened again after a sleep', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    await follow({});
    const first = FakeEventSource.current;
    first.accept(live());
    // Timers stand still while the computer sleeps.
    vi.setSystemTime(Date.now() + 3_600_000);
    act(() => void vi.advanceTimersByTime(5000));
    expect(FakeEventSource.current).not.toBe(first);
  });
});

describe('state of a run', () => {
  test('follows an interruption and a resumption', async () => {
    const server: Record<string, RunState> = { a1: 'running' };
    await follow(server);
    FakeEventSource.current.accept(live(running('a1')));
    server.a1 = 'cut-off';
    FakeEventSource.current.send(live(interrupted('a1')));
    expect(await screen.findByText(/a1 is cut-off/)).toBeVisible();
    server.a1 = 'running';
    FakeEventSource.current.send(live(running('a1')));
    expect(await screen.findByText(/a1 is running/)).toBeVisible();
    server.a1 = 'finished';
    FakeEventSource.current.send(live());
    expect(await screen.findByText(/a1 is finished/)).toBeVisible();
  });

  test('does not depend on other runs', async () => {
    const server: Record<string, RunState> = { a1: 'running', b2: 'running' };
    await follow(server);
    FakeEventSource.current.accept(live(running('a1'), running('b2')));
    server.b2 = 'cut-off';
    FakeEventSource.current.send(live(running('a1', 2), interrupted('b2')));
    expect(await screen.findByText(/b2 is cut-off/)).toBeVisible();
    expect(screen.getByText(/a1 is running/)).toBeVisible();
  });

  test('follows an interruption before the stream opened', async () => {
    const server: Record<string, RunState> = { a1: 'running' };
    await follow(server);
    server.a1 = 'cut-off';
    FakeEventSource.current.accept(live(interrupted('a1')));
    expect(await screen.findByText(/a1 is cut-off/)).toBeVisible();
  });

  test('is requested once per event if it differs', async () => {
    const { requests } = await follow({ a1: 'running' });
    FakeEventSource.current.accept(live());
    await vi.waitFor(() => expect(requests).toHaveLength(2));
    await act(() => new Promise((resolve) => setTimeout(resolve, 50)));
    expect(requests).toHaveLength(2);
  });

  test('of an idle run is not requested again', async () => {
    const { requests, invalidated } = await follow({ a1: 'cut-off' });
    FakeEventSource.current.accept(live(interrupted('a1')));
    FakeEventSource.current.send(live(interrupted('a1')), { type: 'alive' });
    expect(invalidated).not.toHaveBeenCalled();
    expect(requests).toHaveLength(1);
  });
});
