// A fake `EventSource`, whose server the test plays.
import { act } from '@testing-library/react';
import { vi } from 'vitest';
import type { ServerEvent } from '../api/types';

export class FakeEventSource {
  static readonly CLOSED = 2;
  private static created: FakeEventSource[] = [];
  readyState = 0;
  onopen = () => {};
  onerror = () => {};
  private readonly listeners = new Map<string, (event: { data: string }) => void>();

  constructor() {
    FakeEventSource.created.push(this);
  }

  /** Replaces `EventSource`. */
  static install() {
    FakeEventSource.created = [];
    vi.stubGlobal('EventSource', FakeEventSource);
  }

  /** The streams that are not closed. */
  static get open(): FakeEventSource[] {
    return FakeEventSource.created.filter(({ readyState }) => readyState !== FakeEventSource.CLOSED);
  }

  /** The only stream that is not closed. */
  static get current(): FakeEventSource {
    const [current, ...others] = FakeEventSource.open;
    if (current === undefined || others.length > 0) throw new Error('expected one open stream');
    return current;
  }

  addEventListener(type: string, listener: (event: { data: string }) => void) {
    this.listeners.set(type, listener);
  }

  close() {
    this.readyState = FakeEventSource.CLOSED;
  }

  /** The server accepts the connection and sends these events. */
  accept(...events: ServerEvent[]) {
    this.readyState = 1;
    act(() => this.onopen());
    this.send(...events);
  }

  send(...events: ServerEvent[]) {
    for (const event of events) {
      act(() => this.listeners.get(event.type)?.({ data: JSON.stringify(event) }));
    }
  }

  /** The connection is cut; the browser retries unless there was a response. */
  cut({ isRetried = true } = {}) {
    this.readyState = isRetried ? 0 : FakeEventSource.CLOSED;
    act(() => this.onerror());
  }
}
