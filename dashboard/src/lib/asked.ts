// What an agent is asked, found in an item of a data set by the names that are usual for it.
import { asText } from './texts';

type Fields = Record<string, unknown>;

/** The most telling first, as the server's lists have them. */
const ASKED = ['input', 'question', 'prompt', 'query', 'text', 'message', 'messages'];
/** Fields in which data sets hold the answer that is hoped for, as `cobalt` looks for them. */
const EXPECTED = ['expectedOutput', 'expected_output', 'expected', 'reference', 'target', 'answer'];
/** The most characters of a line. */
const LINE = 300;

const first = (names: string[], input: Fields) =>
  names.find((name) => Object.hasOwn(input, name) && input[name] != null);

/** The field of what the agent is asked. */
export const askedField = (input: Fields) => first(ASKED, input);

/** The field of the answer that is hoped for. */
export const expectedField = (input: Fields) => first(EXPECTED, input);

/** What the agent is asked in a line; where no field is known to tell it, all fields but what is expected. */
export function asked(input: Fields): string {
  const field = askedField(input);
  const expected = expectedField(input);
  const told =
    field !== undefined
      ? asText(input[field])
      : Object.entries(input)
          .filter(([name]) => name !== 'id' && name !== expected)
          .map(([name, value]) => `${name}: ${asText(value)}`)
          .join(' · ');
  return told.slice(0, LINE).replace(/\s+/g, ' ');
}
