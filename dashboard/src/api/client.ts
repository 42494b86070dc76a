// Sends requests to the server, and turns failures into readable errors.

/** A failed request, with the server's message if there is one. */
export class ApiError extends Error {
  /** The HTTP status; 0 if the server cannot be reached. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

type QueryValue = string | number | boolean | null | undefined;

/** Query parameters. Null, undefined and empty ones are left out; a list repeats its parameter. */
export type QueryParameters = Record<string, QueryValue | QueryValue[]>;

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
  let response: Response;
  try {
    response = await fetch(buildUrl(path, parameters), { signal, headers: { accept: 'application/json' } });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "Can't reach the server. Start it with: cargo cobalt serve");
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  throw new ApiError(
    response.status,
    errorMessage(body) ?? `The server responded with status ${response.status}.`,
  );
}

function errorMessage(body: unknown): string | undefined {
  const hasError = typeof body === 'object' && body !== null && 'error' in body;
  return hasError ? String(body.error) : undefined;
}
