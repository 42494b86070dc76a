// What agents wrote, as text: JSON laid out, and characters seen that would hide or turn others.

/** A text as it is; anything else as JSON, laid out. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, null, 2) ?? '';
}

/** An object or a list, whether it came as one or as a text with its JSON; undefined for all else. */
export function asStructure(value: unknown): object | undefined {
  if (typeof value === 'object' && value !== null) return value;
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined;
  try {
    const read: unknown = JSON.parse(value);
    return typeof read === 'object' && read !== null ? read : undefined;
  } catch {
    return undefined;
  }
}

/** A part of a text. */
export interface Piece {
  text: string;
  /** Whether it stands for a character that could not be seen. */
  isWrittenOut: boolean;
}

/** The text with such characters written out, for where nothing can be marked. */
export const plain = (text: string) =>
  pieces(text)
    .map((piece) => piece.text)
    .join('');

// Controls without tab and line ends, marks of writing direction, spaces without width, and invisible tags.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** The text in parts; characters that could not be seen are written out as `\u{202e}`. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > end) found.push({ text: text.slice(end, match.index), isWrittenOut: false });
    const code = match[0].codePointAt(0)?.toString(16) ?? '';
    found.push({ text: `\\u{${code}}`, isWrittenOut: true });
    end = match.index + match[0].length;
  }
  if (end < text.length || found.length === 0) found.push({ text: text.slice(end), isWrittenOut: false });
  return found;
}
