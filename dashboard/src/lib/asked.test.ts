import { expect, test } from 'vitest';
import { asked, askedField, expectedField } from './asked';

test('what the agent is asked is told without what lies around it', () => {
  expect(asked({ context: { channel: 'chat' }, id: 'q-1', question: 'Is it\nopen?' })).toBe('Is it open?');
  expect(asked({ input: null, prompt: 'Say so' })).toBe('Say so');
  expect(askedField({ context: 1 })).toBeUndefined();
});

test('an item of other fields is told by them, but not by what is expected', () => {
  const input = { id: 'i-1', audience: 'customers', severity: 3, expectedOutput: 'All is well' };
  expect(asked(input)).toBe('audience: customers · severity: 3');
  expect(expectedField(input)).toBe('expectedOutput');
});
