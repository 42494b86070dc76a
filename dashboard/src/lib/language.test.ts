import { expect, test } from 'vitest';
import { isMarkdown, languageOfFile } from './language';

test('the language of a file follows from its extension', () => {
  expect(languageOfFile('src/lib.rs')).toBe('rust');
  expect(languageOfFile('a.b/Cargo.TOML')).toBe('ini');
  expect(languageOfFile('LICENSE')).toBeUndefined();
  expect(languageOfFile('notes.constructor')).toBeUndefined();
});

test.each([
  '# Heading\ntext',
  'Use **bold** words',
  '- one\n- two',
  '1. one\n2. two',
  '```rust\nfn main() {}\n```',
  '| a | b |\n|---|--:|\n| 1 | 2 |',
  'See [the docs](https://example.com)',
  'Call `run()`',
])('Markdown is recognised: %j', (text) => expect(isMarkdown(text)).toBe(true));

test.each(['Paris', 'a * b * c = d', 'costs 5 - 3', '#1 of 2', '', 'snake_case_name', '2 - 1\n3'])(
  'plain text is left alone: %j',
  (text) => expect(isMarkdown(text)).toBe(false),
);
