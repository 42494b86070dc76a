// The server's event stream: reconnects after a network failure, a restart of the server, or a sleep of the computer.
import type { ServerEvent } from './types';

const TYPES = ['alive', 'live', 'item', 'job', 'results', 'remote'] satisfies ServerEvent['type'][];

/** The server sends an event every 15 seconds. After a longer silence the connection is lost, though the browser may not notice. */
const MAX_SILENCE_MS = 40_000;
const CHECK_MS = 5000;

interface Listener {
  onOpen: () => void;
  onEvent: (event: ServerEvent) => void;
  /** The connection is lost; `onOpen` follows once it works again. */
  onLost: () => void;
}

/** Opens the stream, and returns a function that closes it. */
export function openEventStream({ onOpen, onEvent, onLost }: Listener): () => void {
  let source: EventSource;
  let lastHeard: number;
  const onMessage = ({ data }: MessageEvent<string>) => {
    lastHeard = Date.now();
    onEvent(JSON.parse(data) as ServerEvent);
  };
  const connect = () => {
    lastHeard = Date.now();
    source = new EventSource('/api/events');
    for (const type of TYPES) source.addEventListener(type, onMessage);
    source.onopen = onOpen;
    source.onerror = onLost;
  };
  const reconnect = () => {
    source.close();
    onLost();
    connect();
  };
  const check = () => {
    // The browser gives up after an HTTP error; it retries only if there is no response.
    const hasGivenUp = source.readyState === EventSource.CLOSED;
    if (hasGivenUp || Date.now() - lastHeard > MAX_SILENCE_MS) reconnect();
  };
  connect();
  const timer = setInterval(check, CHECK_MS);
  window.addEventListener('online', reconnect);
  return () => {
    window.removeEventListener('online', reconnect);
    clearInterval(timer);
    source.close();
  };
}
