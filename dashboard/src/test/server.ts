// A fake server: responds to API requests from a table and records the requests.
import { vi } from 'vitest';

/** Responds to the query parameters, the sent body and the headers of a request. */
type Respond = (parameters: URLSearchParams, sent?: unknown, headers?: Headers) => object;

/** The response for a path: a body, or a function. */
type MockResponse = object | Respond;

/** An error response with a message. */
class ErrorResponse {
  constructor(
    readonly status: number,
    readonly error: string,
    readonly code?: string,
  ) {}
}

export const errorResponse = (status: number, error: string, code?: string) =>
  new ErrorResponse(status, error, code);

/** Replaces `fetch`. Paths without a response are not found. Returns the requested URLs in order. */
export function mockServer(responses: Record<string, MockResponse>): URL[] {
  const requests: URL[] = [];
  vi.stubGlobal('fetch', async (input: string, init?: RequestInit) => {
    const url = new URL(input, 'http://127.0.0.1');
    requests.push(url);
    const response = responses[url.pathname] ?? errorResponse(404, `${url.pathname} not found`);
    const body = typeof response === 'function' ? respond(response as Respond, url, init) : response;
    return body instanceof ErrorResponse
      ? Response.json({ error: body.error, code: body.code }, { status: body.status })
      : Response.json(body);
  });
  return requests;
}

function respond(response: Respond, url: URL, init: RequestInit = {}): object {
  const sent: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
  return response(url.searchParams, sent, new Headers(init.headers));
}

/** Simulates an unreachable server. */
export function mockServerDown() {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('connection refused')));
}
