// The model traffic of a replayed run.
import type { Execution, Item, Report, Traffic } from '../../src/api/types';
import type { PlannedItem } from './plan';
import { usage } from './prices';
import { digits, Random } from './random';
import { sum } from './statistics';
import { executionsOf } from './summary';

export const RECORDED_AT = '2026-10-18T09:12:00.000Z';

/** The share of trials whose conversation differs from the recording. */
const DIVERGED = 0.06;

/** The items as if they were replayed, except for a few that diverged. */
export function withTraffic(items: PlannedItem[], seed: string): PlannedItem[] {
  const random = new Random(seed);
  const add = (run: Execution) => ({ ...run, traffic: trafficOf(run, random) });
  return items.map((item) => ({ ...item, executions: item.executions.map(add) }));
}

function trafficOf(run: Execution, random: Random): Traffic {
  const requests = random.whole(1, 4);
  const asked = Array.from({ length: 2 * requests }, () => digits(String(random.next()), 10));
  const isDiverged = random.chance(DIVERGED);
  const replayed = isDiverged ? requests - 1 : requests;
  return {
    ...(replayed > 0 && { replayed, recordedAt: RECORDED_AT }),
    ...(isDiverged && {
      live: 1,
      liveCost: usage(run)?.cost ?? 0,
      retried: 1,
      waitedMs: random.whole(400, 2900),
      diverged: '`messages[1].content`: recorded `…is on its way…`, now `…was returned…`',
    }),
    asked,
  };
}

/** The summary of the items' traffic; undefined if there was none. */
export function trafficSummaryOf(items: Item[]): Report['summary']['traffic'] | undefined {
  const byItem = items
    .map((item) => executionsOf(item).flatMap((run) => run.traffic ?? []))
    .filter((trials) => trials.length > 0);
  if (byItem.length === 0) return undefined;
  const trials = byItem.flat();
  return {
    replayedItems: byItem.filter((trials) => total(trials, 'replayed') > 0 && total(trials, 'live') === 0)
      .length,
    liveItems: byItem.filter((trials) => total(trials, 'live') > 0).length,
    divergedItems: byItem.filter((trials) => trials.some((trial) => trial.diverged != null)).length,
    replayed: total(trials, 'replayed'),
    live: total(trials, 'live'),
    recordedAt: RECORDED_AT,
    liveCost: total(trials, 'liveCost'),
    retried: total(trials, 'retried'),
    waitedMs: total(trials, 'waitedMs'),
    attributedByContent: 3,
    unattributed: 2,
    unattributedReplayed: 1,
  };
}

function total(trials: Traffic[], metric: 'replayed' | 'live' | 'liveCost' | 'retried' | 'waitedMs'): number {
  return sum(trials.map((trial) => trial[metric] ?? 0));
}
