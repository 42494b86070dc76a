import { expect, test } from 'vitest';
import { expectedField, promptField } from './item-input';

test('the prompt and the expected output are in the first common fields that have a value', () => {
  const input = { id: 'q-1', input: null, prompt: 'Say so', text: 'so', expectedOutput: 'so' };
  expect(promptField(input)).toBe('prompt');
  expect(expectedField(input)).toBe('expectedOutput');
  expect(promptField({ context: 1 })).toBeUndefined();
});
