// Diffs two values: texts by words, JSON by lines. Size limits keep it fast.
import { type Change, diffLines, diffWordsWithSpace } from 'diff';
import { parseStructure, toText } from './texts';

export interface DiffPart {
  text: string;
  kind: 'same' | 'removed' | 'added';
}

export interface TextDiff {
  /** Both values as they were compared. */
  before: string;
  after: string;
  isEqual: boolean;
  /** Whether both are JSON; it is then pretty-printed. */
  isJson: boolean;
  /** The unit of the parts; undefined if the values are too large or too different for a diff. */
  unit?: 'words' | 'lines';
  parts: DiffPart[];
}

/** The maximum total length of both texts, in characters. */
const MAX_WORD_DIFF_LENGTH = 20_000;
const MAX_LINE_DIFF_LENGTH = 400_000;
/** Aborts after this many edits; the run time is quadratic in them. */
const DIFF_OPTIONS = { maxEditLength: 1000 };

export function diffTexts(before: unknown, after: unknown): TextDiff {
  const structures = [parseStructure(before), parseStructure(after)];
  const isJson = structures[0] !== undefined && structures[1] !== undefined;
  const [one, two] = isJson
    ? [canonicalJson(structures[0]), canonicalJson(structures[1])]
    : [toText(before), toText(after)];
  const texts = { before: one, after: two, isEqual: one === two, isJson };
  if (one === two) return { ...texts, unit: 'lines', parts: [{ text: one, kind: 'same' }] };

  const size = one.length + two.length;
  if (!isJson && size <= MAX_WORD_DIFF_LENGTH) {
    const words = diffWordsWithSpace(one, two, DIFF_OPTIONS);
    if (words !== undefined) return { ...texts, unit: 'words', parts: mergeChanges(words.map(toPart)) };
  }
  const lines = size <= MAX_LINE_DIFF_LENGTH ? diffLines(one, two, DIFF_OPTIONS) : undefined;
  if (lines !== undefined) return { ...texts, unit: 'lines', parts: lines.map(toPart) };
  return { ...texts, parts: [] };
}

/** Below this share of common text, a diff reads worse than both texts beside each other. */
const MIN_COMMON_SHARE = 0.5;

/** Whether two texts have so much in common that their difference is easier to read than both. */
export function areClose({ isEqual, unit, parts }: TextDiff): boolean {
  return isEqual || (unit !== undefined && commonShare(parts) >= MIN_COMMON_SHARE);
}

/** The share of the characters of both texts that is the same, without spaces. */
function commonShare(parts: DiffPart[]): number {
  const count = (kind: DiffPart['kind']) =>
    parts
      .filter((part) => part.kind === kind)
      .reduce((sum, { text }) => sum + text.replace(/\s+/g, '').length, 0);
  const same = 2 * count('same');
  return same / (same + count('removed') + count('added'));
}

function toPart({ value, added, removed }: Change): DiffPart {
  return { text: value, kind: added ? 'added' : removed ? 'removed' : 'same' };
}

/** Merges adjacent changes that are separated only by whitespace, for readability. */
function mergeChanges(parts: DiffPart[]): DiffPart[] {
  const all: DiffPart[] = [];
  let row: DiffPart[] = [];
  const end = () => {
    // Whitespace after the last change is not part of it.
    const isSpaceLast = row.length > 1 && row.at(-1)?.kind === 'same';
    const trailing = isSpaceLast ? row.slice(-1) : [];
    const changes = isSpaceLast ? row.slice(0, -1) : row;
    for (const kind of ['removed', 'added'] as const) {
      const text = changes
        .filter((part) => part.kind === kind || part.kind === 'same')
        .map(({ text }) => text);
      if (changes.some((part) => part.kind === kind)) all.push({ text: text.join(''), kind });
    }
    all.push(...trailing);
    row = [];
  };
  for (const part of parts) {
    const isBetween = part.kind === 'same' && part.text.trim() === '' && row.length > 0;
    if (part.kind !== 'same' || isBetween) {
      row.push(part);
    } else {
      end();
      all.push(part);
    }
  }
  end();
  return all;
}

/** Pretty-printed JSON with sorted keys, to ignore their order. */
function canonicalJson(value: unknown): string {
  const sorted = (_: string, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [two]) => (one < two ? -1 : 1)))
      : inner;
  return JSON.stringify(value, sorted, 2);
}
