// Conversation fixtures: each helper returns a complete object, and a test overrides what it is about.
import type { ModelUsage, Transcript, Turn } from '../api/types';

export const turn = (given: Partial<Turn> = {}): Turn => ({
  message: 'A room in York, please.',
  reply: 'For which night?',
  startMs: 0,
  latencyMs: 420,
  ...given,
});

export const transcript = (given: Partial<Transcript> = {}): Transcript => ({
  turns: [turn()],
  end: 'script-end',
  ...given,
});

/** The usage of a simulated user. */
export const userUsage = (given: Partial<ModelUsage> = {}): ModelUsage => ({
  models: ['gpt-5.4-nano'],
  calls: 3,
  cached: 0,
  tokens: { input: 900, output: 100 },
  cost: 0.0012,
  ...given,
});
