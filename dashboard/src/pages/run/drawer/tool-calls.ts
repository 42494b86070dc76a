// The calls of tools that an agent reported, read from the common shapes.
import { parseStructure } from '../../../lib/texts';

export interface ToolCall {
  name: string;
  /** Undefined where nothing is said of them. */
  arguments: unknown;
  result: unknown;
  error: unknown;
}

type Fields = Record<string, unknown>;

const CALLS = ['toolCalls', 'tool_calls', 'calls'];
const NAMES = ['name', 'tool', 'tool_name', 'toolName'];
const ARGUMENTS = ['arguments', 'args', 'parameters', 'input', 'tool_input', 'toolInput', 'input_parameters'];
const RESULTS = ['result', 'output', 'content'];

/** The calls in the metadata of an output, with the field that holds them; undefined where it holds none that are known. */
export function toolCalls(metadata: Fields): { field: string; calls: ToolCall[] } | undefined {
  for (const field of CALLS) {
    const entries = parseStructure(metadata[field]);
    if (!Array.isArray(entries) || entries.length === 0) continue;
    const calls = entries.map(parseCall);
    // One that cannot be read makes all of it be shown as it is.
    if (calls.every((call) => call !== undefined)) return { field, calls };
  }
  return undefined;
}

function parseCall(entry: unknown): ToolCall | undefined {
  if (!isFields(entry)) return undefined;
  // The shape of chat completions: the call is in `function`, its result beside it.
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

/** The first of the fields that is there. */
const first = (fields: Fields, names: string[]): unknown =>
  names.map((name) => fields[name]).find((value) => value !== undefined && value !== null);
