// The model traffic of a run in words, like the terminal: what was replayed, and what is therefore not a measurement of this run.
import type { ItemTraffic, Report, Traffic } from '../api/types';
import { formatCost, formatCount, formatDate, formatDuration, pluralize } from './format';

type Summary = Report['summary'];

/** `45 items: 41 replayed (recorded 2026-11-21), 4 live, $0.030`; undefined if no traffic passed through the gateway. */
export function trafficLine(summary: Summary): string | undefined {
  const { traffic } = summary;
  if (traffic == null) return undefined;
  const { replayedItems, liveItems, refusedItems = 0, replayed, live, liveCost = 0 } = traffic;
  const recorded = traffic.recordedAt == null ? undefined : `recorded ${formatDate(traffic.recordedAt)}`;
  const parts: string[] = [];
  if (replayedItems > 0) parts.push(`${formatCount(replayedItems)} replayed${inBrackets(recorded)}`);
  if (liveItems > 0) {
    const inPart = replayedItems === 0 && replayed > 0 && `${pluralize(replayed, 'request')} replayed`;
    parts.push(`${formatCount(liveItems)} live${inPart ? inBrackets(inPart, recorded) : ''}`);
  }
  if (refusedItems > 0) parts.push(`${formatCount(refusedItems)} refused`);
  const others = summary.totalItems - replayedItems - liveItems - refusedItems;
  if (parts.length === 0 && replayed === 0 && recorded !== undefined)
    parts.push(`judges replayed${inBrackets(recorded)}`);
  else if (others > 0) parts.push(`${formatCount(others)} without model responses`);
  if (live > 0 && liveCost > 0) parts.push(formatCost(liveCost));
  return `${pluralize(summary.totalItems, 'item')}: ${parts.join(', ')}`;
}

const inBrackets = (...facts: (string | undefined)[]) => {
  const known = facts.filter((fact) => fact !== undefined);
  return known.length > 0 ? ` (${known.join(', ')})` : '';
};

/** Further facts about the traffic of a run: requests that no token attributed, retries and waits. */
export function trafficNotes({ traffic }: Summary): string[] {
  if (traffic == null) return [];
  const { attributedByContent = 0, unattributed = 0, unattributedReplayed = 0 } = traffic;
  const notes: string[] = [];
  if (attributedByContent > 0)
    notes.push(`${pluralize(attributedByContent, 'request')} attributed by content`);
  if (unattributed > 0) {
    const replayed =
      unattributedReplayed === 0
        ? ''
        : unattributedReplayed === unattributed
          ? ', replayed'
          : `, ${formatCount(unattributedReplayed)} of them replayed`;
    notes.push(`${pluralize(unattributed, 'request')} not attributed to an item${replayed}`);
  }
  return [...notes, ...waitNotes(traffic)];
}

/** `2 requests retried` and `3.00 s waited, not part of the latency`. */
function waitNotes({ retried = 0, waitedMs = 0 }: { retried?: number; waitedMs?: number }): string[] {
  const notes: string[] = [];
  if (retried > 0) notes.push(`${pluralize(retried, 'request')} retried`);
  if (waitedMs > 0) notes.push(`${formatDuration(waitedMs)} waited, not part of the latency`);
  return notes;
}

/** The mark of a run's latency and cost: `as recorded`, or `38 of 45 as recorded`; undefined if no item was replayed. */
export function replayMark(replayedItems: number, totalItems: number): string | undefined {
  if (replayedItems === 0) return undefined;
  if (replayedItems >= totalItems) return 'as recorded';
  return `${formatCount(replayedItems)} of ${formatCount(totalItems)} as recorded`;
}

const IN_PART = 'as recorded in part';

/** The mark of a run's summary; `as recorded in part` if no item was replayed as a whole. */
export const summaryMark = ({ traffic, totalItems }: Summary) =>
  replayMark(traffic?.replayedItems ?? 0, totalItems) ?? (traffic?.replayed ? IN_PART : undefined);

interface ReplayedCalls {
  calls?: number | null;
  replayed?: number | null;
  /** The part of the cost that was not paid again; absent if it is unknown. */
  replayedCost?: number | null;
}

/** The mark of the cost of model calls: `as recorded`, or `of which $0.040 as recorded`; undefined if none was replayed. */
export function replayedCostMark({ calls, replayed, replayedCost }: ReplayedCalls): string | undefined {
  if (!replayed) return undefined;
  if (!calls) return 'as recorded';
  return replayedCost == null ? IN_PART : `of which ${formatCost(replayedCost)} as recorded`;
}

/** The mark of a run's judge cost; undefined if no judge was replayed or the cost is unknown. */
export function judgeMark(
  summary: Pick<Summary, 'judgeCalls' | 'judgeCost' | 'judgeReplayed' | 'judgeReplayedCost'>,
): string | undefined {
  const { judgeCalls: calls, judgeCost, judgeReplayed: replayed, judgeReplayedCost: replayedCost } = summary;
  return judgeCost == null ? undefined : replayedCostMark({ calls, replayed, replayedCost });
}

const replayedCost = (whose: string) =>
  `The answers of ${whose} were replayed: their cost is that of the recording and was not paid again.`;

/** What the mark of a judge cost means. */
export const REPLAYED_JUDGES = replayedCost('these judges');

/** What the mark of the cost of simulated users means. */
export const REPLAYED_USERS = replayedCost('simulated users');

/** What the mark of a run means. */
export const REPLAY_EXPLANATION =
  'The model responses of these items were replayed: their latency, tokens and cost are those of the recording.';

/** The mark of an item's latency and cost, and what it means; undefined if nothing was replayed. */
export function itemMark(
  traffic: Pick<ItemTraffic, 'replayed' | 'live' | 'recordedAt'> | Traffic | null | undefined,
): { mark: string; explanation: string } | undefined {
  const { replayed = 0, live = 0, recordedAt } = traffic ?? {};
  if (replayed === 0) return undefined;
  const recorded = recordedAt == null ? '' : ` on ${formatDate(recordedAt)}`;
  const requests =
    live === 0
      ? `${pluralize(replayed, 'request')} replayed`
      : `${formatCount(replayed)} of ${pluralize(replayed + live, 'request')} replayed`;
  const extent = live === 0 ? '' : ' in part';
  return {
    mark: live === 0 ? 'as recorded' : IN_PART,
    explanation: `Latency and cost are${extent} those recorded${recorded}: ${requests}`,
  };
}
