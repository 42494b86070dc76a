// The event stream is open while the page is visible. Queries are invalidated after a reconnect.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { LiveProvider } from './events';

/** A fake `EventSource`. */
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

/** Shows or hides the page. */
function show(visibility: DocumentVisibilityState) {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(visibility);
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
}

function listen() {
  const client = new QueryClient();
  const invalidated = vi.spyOn(client, 'invalidateQueries');
  const page = render(
    <QueryClientProvider client={client}>
      <LiveProvider>page</LiveProvider>
    </QueryClientProvider>,
  );
  return { page, invalidated };
}

describe('the events', () => {
  beforeEach(() => {
    Source.all = [];
    vi.restoreAllMocks();
    vi.stubGlobal('EventSource', Source);
  });

  test('are received only while the page is visible', () => {
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

  test('that were missed invalidate the queries', () => {
    const { invalidated } = listen();
    act(() => open()[0]?.onopen());
    expect(invalidated).not.toHaveBeenCalled();
    show('hidden');
    show('visible');
    act(() => open()[0]?.onopen());
    expect(invalidated).toHaveBeenCalledWith({ queryKey: ['runs'] });
    expect(invalidated).toHaveBeenCalledWith({ queryKey: ['run'] });
    expect(invalidated).toHaveBeenCalledWith({ queryKey: ['experiments'] });
  });
});
