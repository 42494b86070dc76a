// A fake server: responds to API requests from a table and records the requests.
import { vi } from 'vitest';

/** The response for a path: a body, or a function of the query parameters. */
type MockResponse = object | ((parameters: URLSearchParams) => object);

/** An error response with a message. */
class ErrorResponse {
  constructor(
    readonly status: number,
    readonly error: string,
  ) {}
}

export const errorResponse = (status: number, error: string) => new ErrorResponse(status, error);

/** Replaces `fetch`. Paths without a response are not found. Returns the requested URLs in order. */
export function mockServer(responses: Record<string, MockResponse>): URL[] {
  const requests: URL[] = [];
  vi.stubGlobal('fetch', async (input: string) => {
    const url = new URL(input, 'http://127.0.0.1');
    requests.push(url);
    const response = responses[url.pathname] ?? errorResponse(404, `${url.pathname} not found`);
    const body = typeof response === 'function' ? response(url.searchParams) : response;
    return body instanceof ErrorResponse
      ? Response.json({ error: body.error }, { status: body.status })
      : Response.json(body);
  });
  return requests;
}

/** Simulates an unreachable server. */
export function mockServerDown() {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('connection refused')));
}
