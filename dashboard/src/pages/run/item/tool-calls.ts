// Parses the tool calls that an agent reported, in common formats.
import { parseStructure } from '../../../lib/texts';

export interface ToolCall {
  name: string;
  /** Undefined if not reported. */
  arguments: unknown;
  result: unknown;
  error: unknown;
}

type Fields = Record<string, unknown>;

const CALLS = ['toolCalls', 'tool_calls', 'calls'];
const NAMES = ['name', 'tool', 'tool_name', 'toolName'];
const ARGUMENTS = ['arguments', 'args', 'parameters', 'input', 'tool_input', 'toolInput', 'input_parameters'];
const RESULTS = ['result', 'output', 'content'];

/** The tool calls in an output's metadata and the name of their field; undefined if there are none in a known format. */
export function toolCalls(metadata: Fields): { field: string; calls: ToolCall[] } | undefined {
  for (const field of CALLS) {
    const entries = parseStructure(metadata[field]);
    if (!Array.isArray(entries) || entries.length === 0) continue;
    const calls = entries.map(parseCall);
    // If any call has an unknown format, the field is shown as metadata.
    if (calls.every((call) => call !== undefined)) return { field, calls };
  }
  return undefined;
}

function parseCall(entry: unknown): ToolCall | undefined {
  if (!isFields(entry)) return undefined;
  // The chat completions format: the call is in `function`, the result next to it.
  const call = isFields(entry.function) ? entry.function : entry;
  const name = first(call, NAMES);
  if (typeof name !== 'string') return undefined;
  return {
    name,
    arguments: first(call, ARGUMENTS),
    result: first(entry, RESULTS) ?? first(call, ['result', 'output']),
    error: entry.error ?? undefined,
  };
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of the first field that exists. */
const first = (fields: Fields, names: string[]): unknown =>
  names.map((name) => fields[name]).find((value) => value !== undefined && value !== null);
