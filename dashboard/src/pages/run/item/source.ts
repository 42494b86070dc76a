// Places in source files: where the experiment is declared, and what an item names as its source.
import type { Overview } from '../../../api/types';

export interface Place {
  /** As shown and copied, relative to the project. */
  path: string;
  absolutePath?: string;
  line: number | undefined;
}

/** `tests/support.rs:24`. */
export const placeText = ({ path, line }: Place) => (line === undefined ? path : `${path}:${line}`);

/** Where the experiment is declared. */
export function experimentPlace({ source }: Overview): Place | undefined {
  if (source == null) return undefined;
  return { path: source.path, absolutePath: source.absolutePath ?? undefined, line: source.line };
}

/** Schemes that open a page or run code, instead of an editor. */
const NO_EDITOR = /^(?:https?|javascript|data|blob|file|vbscript|about|mailto):/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** The URL that opens a place in the editor; undefined without a template or an absolute path. */
export function editorUrl(template: string | null | undefined, place: Place): string | undefined {
  const { absolutePath, line = 1 } = place;
  if (template == null || absolutePath === undefined) return undefined;
  if (!SCHEME.test(template) || NO_EDITOR.test(template)) return undefined;
  // As in URLs of files, with `/` between folders; a path of Windows begins with its drive.
  const path = absolutePath
    .replaceAll('\\', '/')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
    .replaceAll('%3A', ':');
  return (
    template
      // `vscode://file/{path}` and `vscode://file{path}` are both common.
      .replaceAll(
        /(\/?)\{path\}/g,
        (_, slash: string) => slash + (slash === '' ? path : path.replace(/^\//, '')),
      )
      .replaceAll('{line}', String(line))
      .replaceAll('{column}', '1')
  );
}

/** `src/agent.rs:12`, and also with a column. */
const PLACE = /^((?:[^\s:]+\/)*[^\s:/]+\.[A-Za-z0-9]+):(\d+)(?::\d+)?$/;
const FIELDS = ['source', 'location', 'declaredAt'];

/** The place that a dataset item names in a usual field: a text with a line, or an object with a file and a line. */
export function itemPlace(input: Record<string, unknown>, experiment: Place | undefined): Place | undefined {
  for (const field of FIELDS) {
    const place = parsePlace(input[field]);
    if (place !== undefined) return { ...place, absolutePath: absolute(place.path, experiment) };
  }
  return undefined;
}

function parsePlace(value: unknown): Place | undefined {
  if (typeof value === 'string') {
    const [, path, line] = PLACE.exec(value) ?? [];
    return path === undefined ? undefined : { path, line: Number(line) };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const path: unknown = Reflect.get(value, 'file') ?? Reflect.get(value, 'path');
  const line: unknown = Reflect.get(value, 'line');
  if (typeof path !== 'string' || typeof line !== 'number' || !Number.isInteger(line)) return undefined;
  return { path, line };
}

/** The path in the project, whose folder is known by the place of the experiment. Paths that leave it are not opened. */
function absolute(path: string, experiment: Place | undefined): string | undefined {
  const known = experiment?.absolutePath;
  if (known === undefined || !known.endsWith(experiment?.path ?? '') || /(^|[\\/])\.\.([\\/]|$)/.test(path))
    return undefined;
  if (/^(?:\/|[A-Za-z]:)/.test(path)) return undefined;
  return `${known.slice(0, known.length - (experiment?.path.length ?? 0))}${path}`;
}
