import { describe, expect, test } from 'vitest';
import type { Report } from '../api/types';
import { report } from '../test/run';
import {
  itemMark,
  judgeMark,
  replayedCostMark,
  replayMark,
  summaryMark,
  trafficLine,
  trafficNotes,
} from './traffic';

type Traffic = NonNullable<Report['summary']['traffic']>;

const recordedAt = '2026-11-21T12:00:00.000Z';
const summary = (traffic: Partial<Traffic>) => ({
  ...report().summary,
  totalItems: 45,
  traffic: { replayedItems: 0, liveItems: 0, replayed: 0, live: 0, ...traffic },
});

describe('the traffic of a run', () => {
  test('says what was replayed and what was sent', () => {
    const line = (traffic: Partial<Traffic>) => trafficLine(summary(traffic));
    const mixed = { replayedItems: 41, liveItems: 4, replayed: 120, live: 9, recordedAt, liveCost: 0.03 };
    expect(line(mixed)).toBe('45 items: 41 replayed (recorded 2026-11-21), 4 live, $0.030');
    expect(line({ replayedItems: 45, replayed: 45, recordedAt })).toBe(
      '45 items: 45 replayed (recorded 2026-11-21)',
    );
    expect(line({ liveItems: 40, live: 80 })).toBe('45 items: 40 live, 5 without model responses');
    expect(line({ replayedItems: 40, replayed: 80, refusedItems: 5 })).toBe(
      '45 items: 40 replayed, 5 refused',
    );
    expect(line({ liveItems: 45, live: 9, replayed: 1, recordedAt })).toBe(
      '45 items: 45 live (1 request replayed, recorded 2026-11-21)',
    );
    expect(line({ recordedAt })).toBe('45 items: judges replayed (recorded 2026-11-21)');
    expect(trafficLine(report().summary)).toBeUndefined();
  });

  test('counts requests without an item, retries and waits', () => {
    const all = {
      attributedByContent: 1,
      unattributed: 3,
      unattributedReplayed: 1,
      retried: 2,
      waitedMs: 3000,
    };
    expect(trafficNotes(summary(all))).toEqual([
      '1 request attributed by content',
      '3 requests not attributed to an item, 1 of them replayed',
      '2 requests retried',
      '3.00 s waited, not part of the latency',
    ]);
    expect(trafficNotes(summary({ unattributed: 1, unattributedReplayed: 1 }))).toEqual([
      '1 request not attributed to an item, replayed',
    ]);
    expect(trafficNotes(summary({ liveItems: 45, live: 45 }))).toEqual([]);
  });

  test('marks the judge cost that was not paid', () => {
    const cost = { judgeCalls: 0, judgeCost: 0.06, judgeReplayed: 45, judgeReplayedCost: 0.05 };
    expect(judgeMark(cost)).toBe('as recorded');
    expect(judgeMark({ ...cost, judgeCalls: 5 })).toBe('of which $0.050 as recorded');
    expect(judgeMark({ ...cost, judgeCalls: 5, judgeReplayedCost: null })).toBe('as recorded in part');
    expect(judgeMark({ ...cost, judgeCost: null })).toBeUndefined();
    expect(judgeMark({ judgeCalls: 5, judgeCost: 0.06 })).toBeUndefined();
  });

  test('marks a cost by the part that was replayed, if that part is known', () => {
    const mark = (replayedCost?: number | null) => replayedCostMark({ calls: 1, replayed: 2, replayedCost });
    expect(mark(0.05)).toBe('of which $0.050 as recorded');
    expect(mark(0)).toBe('of which $0.00 as recorded');
    expect(mark(null)).toBe('as recorded in part');
    expect(mark()).toBe('as recorded in part');
    expect(replayedCostMark({ calls: 1 })).toBeUndefined();
  });

  test('marks latency and cost if items were replayed', () => {
    expect(replayMark(0, 45)).toBeUndefined();
    expect(replayMark(45, 45)).toBe('as recorded');
    expect(replayMark(38, 45)).toBe('38 of 45 as recorded');
    expect(summaryMark(summary({ liveItems: 45, live: 45, replayed: 1 }))).toBe('as recorded in part');
    expect(summaryMark(summary({ liveItems: 45, live: 45 }))).toBeUndefined();
    expect(itemMark({ replayed: 3, live: 0, recordedAt })).toEqual({
      mark: 'as recorded',
      explanation: 'Latency and cost are those recorded on 2026-11-21: 3 requests replayed',
    });
    expect(itemMark({ replayed: 2, live: 1 })).toEqual({
      mark: 'as recorded in part',
      explanation: 'Latency and cost are in part those recorded: 2 of 3 requests replayed',
    });
    expect(itemMark({ replayed: 0, live: 1 })).toBeUndefined();
    expect(itemMark(undefined)).toBeUndefined();
  });
});
