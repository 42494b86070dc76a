import { describe, expect, test } from 'vitest';
import { difference } from './difference';

const kinds = (before: unknown, after: unknown) => difference(before, after).parts.map((part) => part.kind);

describe('a difference', () => {
  test('of texts is told by words', () => {
    const { by, parts } = difference('the red fox', 'the grey fox');
    expect(by).toBe('words');
    expect(parts.filter((part) => part.kind !== 'same').map((part) => part.text)).toEqual(['red', 'grey']);
  });

  test('of texts that share nothing but space is the one and the other', () => {
    expect(difference('On a rail', 'The passages do not').parts).toEqual([
      { text: 'On a rail', kind: 'removed' },
      { text: 'The passages do not', kind: 'added' },
    ]);
    expect(difference('one two three', 'one 2 3').parts).toEqual([
      { text: 'one ', kind: 'same' },
      { text: 'two three', kind: 'removed' },
      { text: '2 3', kind: 'added' },
    ]);
    expect(kinds('red fox runs', 'grey fox runs')).toEqual(['removed', 'added', 'same']);
  });

  test('of JSON is told by lines, whatever the order of its names, and whether or not it came as a text', () => {
    expect(difference({ a: 1, b: [2] }, '{"b": [2], "a": 1}').isEqual).toBe(true);
    const { by, isStructure } = difference({ a: 1, b: 2 }, { a: 1, b: 3 });
    expect([by, isStructure]).toEqual(['lines', true]);
    expect(kinds({ a: 1, b: 2 }, { a: 1, b: 3 })).toEqual(['same', 'removed', 'added', 'same']);
  });

  test('of what is too large, or differs too much, is not worked out', () => {
    expect(difference('a\n'.repeat(300_000), 'b').by).toBeUndefined();
    const lines = (word: string) => Array.from({ length: 9000 }, (_, line) => `${word} ${line}`).join('\n');
    expect(difference(lines('one'), lines('two')).by).toBeUndefined();
  });

  test('of nothing and something is all of it', () => {
    expect(kinds('', 'new')).toEqual(['added']);
    expect(kinds(null, 'null')).toEqual(['same']);
  });
});
