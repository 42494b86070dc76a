// Finds the prompt and the expected output in a dataset item, by common field names.
type Fields = Record<string, unknown>;

/** In order of precedence, as in the server's lists. */
const PROMPT_FIELDS = ['input', 'question', 'prompt', 'query', 'text', 'message', 'messages'];
/** Common fields for the expected output, the same as in `cobalt`. */
const EXPECTED_FIELDS = ['expectedOutput', 'expected_output', 'expected', 'reference', 'target', 'answer'];

const firstPresent = (names: string[], input: Fields) =>
  names.find((name) => Object.hasOwn(input, name) && input[name] != null);

/** The name of the field with the prompt. */
export const promptField = (input: Fields) => firstPresent(PROMPT_FIELDS, input);

/** The name of the field with the expected output. */
export const expectedField = (input: Fields) => firstPresent(EXPECTED_FIELDS, input);
