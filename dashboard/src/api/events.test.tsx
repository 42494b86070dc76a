// Listens while the page is seen, and asks again for what may have changed meanwhile.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { LiveProvider } from './events';

/** Connections, as a browser has them. */
class Source {
  static all: Source[] = [];
  isOpen = true;
  onopen = () => {};
  addEventListener = () => {};

  constructor() {
    Source.all.push(this);
  }

  close() {
    this.isOpen = false;
  }
}

const open = () => Source.all.filter((source) => source.isOpen);

/** Shows the page, or another tab. */
function show(visibility: DocumentVisibilityState) {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(visibility);
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
}

function listen() {
  const client = new QueryClient();
  const renewed = vi.spyOn(client, 'invalidateQueries');
  const page = render(
    <QueryClientProvider client={client}>
      <LiveProvider>page</LiveProvider>
    </QueryClientProvider>,
  );
  return { page, renewed };
}

describe('the events', () => {
  beforeEach(() => {
    Source.all = [];
    vi.restoreAllMocks();
    vi.stubGlobal('EventSource', Source);
  });

  test('are listened to while the page is seen alone', () => {
    const { page } = listen();
    expect(open()).toHaveLength(1);
    show('hidden');
    expect(open()).toHaveLength(0);
    show('visible');
    show('visible');
    expect(open()).toHaveLength(1);
    page.unmount();
    expect(open()).toHaveLength(0);
    show('visible');
    expect(open()).toHaveLength(0);
  });

  test('that nobody heard are made up for', () => {
    const { renewed } = listen();
    act(() => open()[0]?.onopen());
    expect(renewed).not.toHaveBeenCalled();
    show('hidden');
    show('visible');
    act(() => open()[0]?.onopen());
    expect(renewed).toHaveBeenCalledWith({ queryKey: ['runs'] });
    expect(renewed).toHaveBeenCalledWith({ queryKey: ['run'] });
  });
});
