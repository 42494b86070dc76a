// Finds the prompt and the expected output in a dataset item, by common field names.
import { toText } from './texts';

type Fields = Record<string, unknown>;

/** In order of precedence, as in the server's lists. */
const PROMPT_FIELDS = ['input', 'question', 'prompt', 'query', 'text', 'message', 'messages'];
/** Common fields for the expected output, the same as in `cobalt`. */
const EXPECTED_FIELDS = ['expectedOutput', 'expected_output', 'expected', 'reference', 'target', 'answer'];
/** The maximum length of a summary in characters. */
const MAX_LENGTH = 300;

const firstPresent = (names: string[], input: Fields) =>
  names.find((name) => Object.hasOwn(input, name) && input[name] != null);

/** The name of the field with the prompt. */
export const promptField = (input: Fields) => firstPresent(PROMPT_FIELDS, input);

/** The name of the field with the expected output. */
export const expectedField = (input: Fields) => firstPresent(EXPECTED_FIELDS, input);

/** The prompt in one line; without a known prompt field, all fields except the ID and the expected output. */
export function summarizeInput(input: Fields): string {
  const field = promptField(input);
  const expected = expectedField(input);
  const summary =
    field !== undefined
      ? toText(input[field])
      : Object.entries(input)
          .filter(([name]) => name !== 'id' && name !== expected)
          .map(([name, value]) => `${name}: ${toText(value)}`)
          .join(' · ');
  return summary.slice(0, MAX_LENGTH).replace(/\s+/g, ' ');
}
