// Accessors for the parts of an item.
import type { Execution, Item } from '../../../api/types';

/** The trials of an item, at least one. */
export const trialsOf = (item: Item): Execution[] => (item.runs?.length ? item.runs : [item]);

/** How many attempts a trial took. */
export const attemptsOf = ({ retried = [] }: Execution): number => retried.length + 1;

/** The faults that were injected into calls of tools, as in the terminal: `search#2: timeout`. */
export const faultsOf = ({ faults = [] }: Execution): string =>
  faults.map(({ tool, call, fault }) => `${tool}#${call}: ${fault}`).join(', ');

/** The metadata of an output. */
export function metadataOf({ output }: Execution): Record<string, unknown> {
  return output.metadata ?? {};
}

/** The tokens that the agent reported for a trial. */
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
