// What a run cost, by who caused it.
import type { Report } from '../../api/types';
import { userCost } from '../../lib/conversation';

/** In US dollars over all items; undefined if there were no such calls or the price is unknown. */
export interface Costs {
  agent: number | undefined;
  judge: number | undefined;
  user: number | undefined;
  /** The sum of the known parts, as in the list of runs. */
  total: number | undefined;
  /** Whether all parts are known. */
  isComplete: boolean;
  /** Whether judges or simulated users were called. */
  hasSeveral: boolean;
  /** The known ones. */
  all: number[];
}

export function costsOf({ estimatedCost, judgeCalls, judgeCost, simulatedUsers }: Report['summary']): Costs {
  const agent = estimatedCost ?? undefined;
  const judge = judgeCost ?? undefined;
  const user = simulatedUsers == null ? undefined : userCost(simulatedUsers);
  const parts = [agent, ...(judgeCalls == null ? [] : [judge]), ...(simulatedUsers == null ? [] : [user])];
  const known = parts.filter((cost) => cost !== undefined);
  const total = known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0);
  return {
    agent,
    judge,
    user,
    total,
    isComplete: known.length === parts.length,
    hasSeveral: parts.length > 1,
    all: total === undefined ? known : [...known, total],
  };
}
