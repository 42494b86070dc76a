// Converts values to text, and makes invisible and direction-changing characters visible.

/** A string unchanged; any other value as pretty-printed JSON. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, null, 2) ?? '';
}

/** A message without the backticks around names. */
export const withoutBackticks = (message: string) => message.replaceAll('`', '');

/** An object or array, or one parsed from a JSON string; undefined for any other value. */
export function parseStructure(value: unknown): object | undefined {
  if (typeof value === 'object' && value !== null) return value;
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** A part of a text. */
interface TextPiece {
  text: string;
  /** Whether it is the escape of an invisible character. */
  isEscaped: boolean;
}

/** The text with invisible characters escaped, for use in attributes. */
export const escapeHidden = (text: string) =>
  splitHidden(text)
    .map((piece) => piece.text)
    .join('');

// Control characters except tabs and line breaks, direction marks, zero-width spaces, and invisible tags.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Splits a text at invisible characters, which are escaped as `\u{202e}`. */
export function splitHidden(text: string): TextPiece[] {
  const result: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > end) result.push({ text: text.slice(end, match.index), isEscaped: false });
    const code = match[0].codePointAt(0)?.toString(16) ?? '';
    result.push({ text: `\\u{${code}}`, isEscaped: true });
    end = match.index + match[0].length;
  }
  if (end < text.length || result.length === 0) result.push({ text: text.slice(end), isEscaped: false });
  return result;
}
