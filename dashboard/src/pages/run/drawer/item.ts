// What is known of an item, from its parts.
import type { Execution, Item } from '../../../api/types';
import { expectedField, promptField } from '../../../lib/item-input';

/** The fields of an item's input, first what the agent is asked, without what is expected of it. */
export function inputOf({ input }: Item): Record<string, unknown> {
  const field = promptField(input);
  const others = omit(input, [field, expectedField(input)]);
  return field === undefined ? others : { [field]: input[field], ...others };
}

/** All runs of the item; one that was not repeated has one. */
export const trialsOf = (item: Item): Execution[] => (item.runs?.length ? item.runs : [item]);

/** The metadata of an output apart from what has a place of its own. */
export function metadataOf({ output }: Execution): Record<string, unknown> {
  return output.metadata ?? {};
}

/** The tokens of an execution, as its agent reported them: `1,266 in, 127 out`. */
export function tokensOf(metadata: Record<string, unknown>): {
  input?: number;
  output?: number;
  total?: number;
} {
  const { tokens } = metadata;
  if (typeof tokens === 'number') return { total: tokens };
  if (typeof tokens !== 'object' || tokens === null) return {};
  const number = (name: string) => {
    const value: unknown = Reflect.get(tokens, name);
    return typeof value === 'number' ? value : undefined;
  };
  return { input: number('input'), output: number('output') };
}

export function omit(
  record: Record<string, unknown>,
  names: (string | undefined)[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}
