// Conversations in words, like the terminal.
import type { ConversationEnd, ModelUsage, Span, Turn, UserMistake } from '../api/types';
import type { Tone } from '../components/badge';
import { formatCost, formatCount, formatDuration, pluralize } from './format';
import { replayedCostMark } from './traffic';

/** How a conversation ended, and how good that is. */
export const ENDS: Record<ConversationEnd, { label: string; tone: Tone }> = {
  'script-end': { label: 'End of the script', tone: 'plain' },
  'goal-met': { label: 'Goal met', tone: 'good' },
  'gave-up': { label: 'User gave up', tone: 'warn' },
  'handed-over': { label: 'Handed over', tone: 'plain' },
  'agent-ended': { label: 'Ended by the agent', tone: 'plain' },
  'turn-limit': { label: 'Turn limit reached', tone: 'warn' },
  error: { label: 'Error', tone: 'bad' },
  timeout: { label: 'Timeout', tone: 'bad' },
  other: { label: 'Other end', tone: 'plain' },
};

export const MISTAKES: Record<UserMistake['kind'], string> = {
  'out-of-character': 'out of character',
  'ended-too-early': 'ended too early',
  'told-answer': 'told the answer',
  other: 'another mistake',
};

/** What a turn took: `420 ms, 1,234 tokens, agent cost $0.0012, 2 model calls`. */
export function turnUsage({ latencyMs, tokens, cost, modelCalls = 0 }: Turn): string {
  const parts = [formatDuration(latencyMs)];
  if (tokens != null) parts.push(pluralize(tokens, 'token'));
  if (cost != null) parts.push(`agent cost ${formatCost(cost)}`);
  if (modelCalls > 0) parts.push(pluralize(modelCalls, 'model call'));
  return parts.join(', ');
}

/** The cost of simulated users; undefined if no model has a known price. */
export const userCost = ({ cost, unpriced = [] }: ModelUsage) =>
  cost > 0 || unpriced.length === 0 ? cost : undefined;

/** The cost of simulated users, or `unknown`. */
export function formatUserCost(usage: ModelUsage): string {
  const cost = userCost(usage);
  return cost === undefined ? 'unknown' : formatCost(cost);
}

/** The calls, tokens and models of simulated users: `3 calls, 1 cached, 1,000 tokens, gpt-5.4-mini`. */
export function userCalls({ calls, cached, replayed = 0, tokens, models }: ModelUsage): string {
  const parts = [pluralize(calls, 'call')];
  if (cached > 0) parts.push(`${formatCount(cached)} cached`);
  if (replayed > 0) parts.push(`${formatCount(replayed)} replayed`);
  const total = tokens.input + tokens.output;
  if (total > 0) parts.push(pluralize(total, 'token'));
  return [...parts, ...models].join(', ');
}

/** The mark of the cost of simulated users; undefined if none was replayed or the cost is unknown. */
export const userMark = (usage: ModelUsage) =>
  userCost(usage) === undefined ? undefined : replayedCostMark(usage);

/** The tool calls of a turn in a trace; none if these are not the ones that the turn names. */
export function toolSpansOf({ startMs, latencyMs, toolCalls = [] }: Turn, spans: Span[]): Span[] {
  const end = startMs + latencyMs;
  const found = spans.filter((span) => span.kind === 'tool' && span.startMs >= startMs && span.startMs < end);
  // Parallel calls may be listed in another order.
  const names = found.map(({ name, tool }) => tool?.name ?? name).sort();
  const isSame =
    names.length === toolCalls.length && [...toolCalls].sort().every((name, at) => name === names[at]);
  return isSame ? found : [];
}
