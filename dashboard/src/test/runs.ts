// Run list fixtures: each helper returns a complete object, and a test overrides what it is about.
import type { LiveRun, RunRow, Runs } from '../api/types';

export const runRow = (given: Partial<RunRow> = {}): RunRow => ({
  id: 'a1b2c3',
  name: 'answers',
  timestamp: '2026-02-05T10:00:00.000Z',
  tags: [],
  avgScores: { correctness: 0.9 },
  totalItems: 12,
  durationMs: 4200,
  verdict: 'passed',
  status: 'passed',
  passedItems: 12,
  lowItems: 0,
  failedItems: 0,
  evalErrors: 0,
  avgLatencyMs: 310,
  replayedItems: 0,
  recentScores: { correctness: [0.8, 0.85, 0.9] },
  ...given,
});

export const liveRun = (given: Partial<LiveRun> = {}): LiveRun => ({
  id: 'f00ba4',
  name: 'answers',
  timestamp: '2026-02-05T12:00:00.000Z',
  tags: [],
  state: 'running',
  partial: false,
  totalItems: 40,
  finishedItems: 10,
  passedItems: 9,
  errorItems: 1,
  avgScores: { correctness: 0.75 },
  elapsedMs: 12_000,
  ...given,
});

/** A response of `/api/runs` with exactly these runs. */
export const runs = (rows: RunRow[], given: Partial<Runs> = {}): Runs => ({
  runs: rows,
  matching: rows.length,
  known: rows.length,
  live: [],
  experiments: counted(rows.map((row) => row.name)),
  tags: counted(rows.flatMap((row) => row.tags)),
  skipped: [],
  ...given,
});

const counted = (names: string[]) =>
  [...new Set(names)].map((name) => ({ name, runs: names.filter((other) => other === name).length }));
