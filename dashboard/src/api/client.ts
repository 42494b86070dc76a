// Sends requests to the server, and turns failures into readable errors.
import { withoutBackticks } from '../lib/texts';
import { writeToken } from './write-token';

/** A failed request, with the server's message if there is one. */
export class ApiError extends Error {
  /** The HTTP status; 0 if the server cannot be reached. */
  readonly status: number;
  /** Identifies an error that the page can act on. */
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }
}

type QueryValue = string | number | boolean | null | undefined;

/** Query parameters. Null, undefined and empty ones are left out; a list repeats its parameter. */
type QueryParameters = Record<string, QueryValue | QueryValue[]>;

/** A path with query parameters. */
export function buildUrl(path: string, parameters: QueryParameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== '') query.append(name, String(one));
    }
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Requests JSON. */
export async function getJson<T>(
  path: string,
  parameters?: QueryParameters,
  signal?: AbortSignal,
): Promise<T> {
  return request(buildUrl(path, parameters), { signal, headers: { accept: 'application/json' } });
}

/** Requests JSON with the write token, so that the server says whether it is valid. */
export async function getJsonWithToken<T>(path: string, signal?: AbortSignal): Promise<T> {
  return request(path, { signal, headers: { accept: 'application/json', ...tokenHeader() } });
}

/** Sends a change. */
export async function sendJson<T>(method: 'POST' | 'PATCH', path: string, body: object): Promise<T> {
  const headers = { accept: 'application/json', 'content-type': 'application/json', ...tokenHeader() };
  return request(path, { method, headers, body: JSON.stringify(body) });
}

function tokenHeader(): Record<string, string> {
  const token = writeToken();
  return token === undefined ? {} : { 'x-cobalt-token': token };
}

async function request<T>(url: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, "Can't reach the server. Start it with: cargo cobalt serve");
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  const { error, code } = errorOf(body);
  throw new ApiError(response.status, error ?? `The server responded with status ${response.status}.`, code);
}

/** Messages name endpoints for programs, and mark names with backticks. Neither is for people. */
const plainText = (message: string | undefined) =>
  message === undefined ? undefined : withoutBackticks(message.replace(/; `\/api[^`]*`[^;]*$/, ''));

function errorOf(body: unknown): { error?: string; code?: string } {
  if (typeof body !== 'object' || body === null) return {};
  const text = (value: unknown) => (value == null ? undefined : String(value));
  return {
    error: 'error' in body ? plainText(text(body.error)) : undefined,
    code: 'code' in body ? text(body.code) : undefined,
  };
}
