// Asks the server, and tells in plain words what went wrong.

/** An answer that is none: what the server says of it, or that there is no server. */
export class ApiError extends Error {
  /** The HTTP status; 0 where the server could not be reached. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

/** A query of parameters; those that are undefined or empty are left out. */
export type Parameters = Record<string, string | number | boolean | null | undefined>;

/** The address of an endpoint. */
export function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Asks for JSON. */
export async function get<T>(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(address(path, parameters), { signal, headers: { accept: 'application/json' } });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'The server does not answer. It may have been stopped: run cargo cobalt serve.');
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  throw new ApiError(response.status, message(body) ?? `The server answered with status ${response.status}.`);
}

function message(body: unknown): string | undefined {
  const isProblem = typeof body === 'object' && body !== null && 'error' in body;
  return isProblem ? String(body.error) : undefined;
}
