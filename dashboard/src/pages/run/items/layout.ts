// Which columns the items table has, in which order and how wide, and how high its rows are. Kept in the URL.

export type RowHeight = 'compact' | 'normal' | 'tall';

export const ROW_HEIGHTS: Record<RowHeight, number> = { compact: 30, normal: 40, tall: 96 };

/** URL parameters that restore the usual columns and widths. */
export const USUAL_COLUMNS = { columns: undefined, widths: undefined };

/** The column of the links to the items; it is always shown. */
export const NAME_COLUMN = 'key';

const FIELDS = ['expected', 'turns', 'tool_calls', 'attempts'];
const FIELD_PREFIXES = ['input.', 'metadata.', 'metric.'];

/** Whether a column is one whose values are requested from the server. */
export const isField = (column: string) =>
  FIELDS.includes(column) || FIELD_PREFIXES.some((prefix) => column.startsWith(prefix));

// Names of evaluators and fields may contain the separators.
const encodeId = (id: string) => id.replace(/[%,:]/g, encodeURIComponent);

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The shown columns in their order; undefined for the usual ones. */
export function parseColumns(search: URLSearchParams): string[] | undefined {
  const ids = (search.get('columns') ?? '').split(',').filter(Boolean).map(decodeId);
  if (ids.length === 0) return undefined;
  const known = [...new Set(ids)];
  return known.includes(NAME_COLUMN) ? known : [NAME_COLUMN, ...known];
}

export const columnsText = (ids: string[]) => ids.map(encodeId).join(',');

export const MIN_WIDTH = 56;
export const MAX_WIDTH = 1200;

/** The widths of resized columns, in pixels. */
export function parseWidths(search: URLSearchParams): Record<string, number> {
  const entries = (search.get('widths') ?? '').split(',').flatMap((part): [string, number][] => {
    const [id = '', text = ''] = part.split(':');
    const width = Number(text);
    return id !== '' && width >= MIN_WIDTH && width <= MAX_WIDTH ? [[decodeId(id), width]] : [];
  });
  return Object.fromEntries(entries);
}

export const widthsText = (widths: Record<string, number>) =>
  Object.entries(widths)
    .map(([id, width]) => `${encodeId(id)}:${Math.round(width)}`)
    .join(',');

export function parseRowHeight(search: URLSearchParams): RowHeight {
  const text = search.get('rows');
  return text === 'compact' || text === 'tall' ? text : 'normal';
}

/** Moves a column to the place of another. */
export function moveColumn(ids: string[], moved: string, target: string): string[] {
  const [from, to] = [ids.indexOf(moved), ids.indexOf(target)];
  if (from < 0 || to < 0) return ids;
  const others = ids.toSpliced(from, 1);
  return others.toSpliced(to, 0, moved);
}
