import { describe, expect, test } from 'vitest';
import { areClose, diffTexts } from './text-diff';

const kinds = (before: unknown, after: unknown) => diffTexts(before, after).parts.map((part) => part.kind);

describe('a diff', () => {
  test('of texts is by words', () => {
    const { unit, parts } = diffTexts('the red fox', 'the grey fox');
    expect(unit).toBe('words');
    expect(parts.filter((part) => part.kind !== 'same').map((part) => part.text)).toEqual(['red', 'grey']);
  });

  test('of texts that share only whitespace removes one and adds the other', () => {
    expect(diffTexts('On a rail', 'The passages do not').parts).toEqual([
      { text: 'On a rail', kind: 'removed' },
      { text: 'The passages do not', kind: 'added' },
    ]);
    expect(diffTexts('one two three', 'one 2 3').parts).toEqual([
      { text: 'one ', kind: 'same' },
      { text: 'two three', kind: 'removed' },
      { text: '2 3', kind: 'added' },
    ]);
    expect(kinds('red fox runs', 'grey fox runs')).toEqual(['removed', 'added', 'same']);
  });

  test('of JSON is by lines, and ignores the order of keys and whether it is a string', () => {
    expect(diffTexts({ a: 1, b: [2] }, '{"b": [2], "a": 1}').isEqual).toBe(true);
    const { unit, isJson } = diffTexts({ a: 1, b: 2 }, { a: 1, b: 3 });
    expect([unit, isJson]).toEqual(['lines', true]);
    expect(kinds({ a: 1, b: 2 }, { a: 1, b: 3 })).toEqual(['same', 'removed', 'added', 'same']);
  });

  test('of texts that are too large or too different is not computed', () => {
    expect(diffTexts('a\n'.repeat(300_000), 'b').unit).toBeUndefined();
    const lines = (word: string) => Array.from({ length: 9000 }, (_, line) => `${word} ${line}`).join('\n');
    expect(diffTexts(lines('one'), lines('two')).unit).toBeUndefined();
  });

  test('of an empty text and another is an addition', () => {
    expect(kinds('', 'new')).toEqual(['added']);
    expect(kinds(null, 'null')).toEqual(['same']);
  });
});

describe('texts are close', () => {
  test.each([
    ['the red fox', 'the grey fox', true],
    ['the red fox', 'the red fox', true],
    [{ a: 1, b: [1, 2, 3] }, { a: 2, b: [1, 2, 3] }, true],
    ['the red fox', 'I do not know', false],
    ['It rains on 142 days.', `# Rainfall\n\n${'Many words about the weather. '.repeat(20)}`, false],
    [' ', '\n', false],
  ])('%j and %j: %s', (before, after, isClose) => {
    expect(areClose(diffTexts(before, after))).toBe(isClose);
  });
});
