// How two values differ: texts word by word, JSON line by line, and never for longer than a blink.
import { type Change, diffLines, diffWordsWithSpace } from 'diff';
import { asStructure, asText } from './texts';

export interface Part {
  text: string;
  kind: 'same' | 'removed' | 'added';
}

export interface Difference {
  /** Both as they were held against each other. */
  before: string;
  after: string;
  isEqual: boolean;
  /** Whether they are JSON, laid out. */
  isStructure: boolean;
  /** What the parts are made of; undefined where the values are too large or differ too much to be told apart. */
  by?: 'words' | 'lines';
  parts: Part[];
}

/** The most characters, of both, that are held against each other. */
const MOST_BY_WORDS = 20_000;
const MOST_BY_LINES = 400_000;
/** From how many changes on it is given up; the work grows with their square. */
const MOST_CHANGES = { maxEditLength: 1000 };

export function difference(before: unknown, after: unknown): Difference {
  const structures = [asStructure(before), asStructure(after)];
  const isStructure = structures[0] !== undefined && structures[1] !== undefined;
  const [one, two] = isStructure
    ? [laidOut(structures[0]), laidOut(structures[1])]
    : [asText(before), asText(after)];
  const texts = { before: one, after: two, isEqual: one === two, isStructure };
  if (one === two) return { ...texts, by: 'lines', parts: [{ text: one, kind: 'same' }] };

  const size = one.length + two.length;
  if (!isStructure && size <= MOST_BY_WORDS) {
    const words = diffWordsWithSpace(one, two, MOST_CHANGES);
    if (words !== undefined) return { ...texts, by: 'words', parts: joined(words.map(part)) };
  }
  const lines = size <= MOST_BY_LINES ? diffLines(one, two, MOST_CHANGES) : undefined;
  if (lines !== undefined) return { ...texts, by: 'lines', parts: lines.map(part) };
  return { ...texts, parts: [] };
}

function part({ value, added, removed }: Change): Part {
  return { text: value, kind: added ? 'added' : removed ? 'removed' : 'same' };
}

/** The same with changes in a row as one, where nothing but space is between them: one can read what was there, and what is. */
function joined(parts: Part[]): Part[] {
  const all: Part[] = [];
  let row: Part[] = [];
  const end = () => {
    // The space behind the last change is no part of it.
    const isSpaceLast = row.length > 1 && row.at(-1)?.kind === 'same';
    const behind = isSpaceLast ? row.slice(-1) : [];
    const changes = isSpaceLast ? row.slice(0, -1) : row;
    for (const kind of ['removed', 'added'] as const) {
      const text = changes
        .filter((part) => part.kind === kind || part.kind === 'same')
        .map(({ text }) => text);
      if (changes.some((part) => part.kind === kind)) all.push({ text: text.join(''), kind });
    }
    all.push(...behind);
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

/** JSON with sorted names, so that their order is no difference. */
function laidOut(value: unknown): string {
  const sorted = (_: string, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [two]) => (one < two ? -1 : 1)))
      : inner;
  return JSON.stringify(value, sorted, 2);
}
