import { expect, test } from 'vitest';
import { expectedField, promptField, summarizeInput } from './item-input';

test('the summary is the prompt, without the fields around it', () => {
  expect(summarizeInput({ context: { channel: 'chat' }, id: 'q-1', question: 'Is it\nopen?' })).toBe(
    'Is it open?',
  );
  expect(summarizeInput({ input: null, prompt: 'Say so' })).toBe('Say so');
  expect(promptField({ context: 1 })).toBeUndefined();
});

test('without a known prompt field, the summary has all fields but the expected output', () => {
  const input = { id: 'i-1', audience: 'customers', severity: 3, expectedOutput: 'All is well' };
  expect(summarizeInput(input)).toBe('audience: customers · severity: 3');
  expect(expectedField(input)).toBe('expectedOutput');
});
