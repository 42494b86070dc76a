// A server for tests: it answers what is asked of the API from a table, and keeps what was asked.
import { vi } from 'vitest';

/** What is answered at a path: a body, or what makes one of the parameters that were asked for. */
type MockResponse = object | ((asked: URLSearchParams) => object);

/** An answer that tells what went wrong. */
class ErrorResponse {
  constructor(
    readonly status: number,
    readonly error: string,
  ) {}
}

export const errorResponse = (status: number, error: string) => new ErrorResponse(status, error);

/** Stands in for `fetch`: paths without an answer are not found. Returns the addresses that were asked for, in order. */
export function mockServer(answers: Record<string, MockResponse>): URL[] {
  const asked: URL[] = [];
  vi.stubGlobal('fetch', async (input: string) => {
    const url = new URL(input, 'http://127.0.0.1');
    asked.push(url);
    const found = answers[url.pathname] ?? errorResponse(404, `nothing is at ${url.pathname}`);
    const body = typeof found === 'function' ? found(url.searchParams) : found;
    return body instanceof ErrorResponse
      ? Response.json({ error: body.error }, { status: body.status })
      : Response.json(body);
  });
  return asked;
}

/** Stands in for a server that is not there. */
export function mockServerDown() {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('connection refused')));
}
