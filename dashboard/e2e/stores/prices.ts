// The prices of the models in the stores, as in the library's price table, in USD per 1,000,000 tokens.
import type { Execution } from '../../src/api/types';

export const PRICES_AS_OF = '2026-11-20';

const PRICES: Record<string, { input: number; output: number }> = {
  'gpt-5.4-mini': { input: 0.75, output: 4.5 },
  'gpt-5.4-nano': { input: 0.2, output: 1.25 },
  'gpt-5.6-luna': { input: 0.2, output: 1.2 },
  'gpt-5.4': { input: 2.5, output: 15 },
};

export interface Tokens {
  input: number;
  output: number;
}

export function price(model: string, tokens: Tokens): number {
  const { input, output } = PRICES[model] ?? { input: 0, output: 0 };
  return (tokens.input * input + tokens.output * output) / 1e6;
}

/** The tokens and cost of a trial; undefined if its agent did not report them. */
export function usage(execution: Execution): { tokens: number; cost: number } | undefined {
  const { model, tokens } = execution.output.metadata ?? {};
  if (typeof model !== 'string' || !isTokens(tokens)) return undefined;
  return { tokens: tokens.input + tokens.output, cost: price(model, tokens) };
}

function isTokens(value: unknown): value is Tokens {
  return typeof value === 'object' && value !== null && 'output' in value && typeof value.output === 'number';
}
