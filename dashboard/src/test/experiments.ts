// Experiment fixtures: each helper returns a complete object, and a test overrides what it is about.
import type { BaselineChange, ExperimentRow, RecentRun } from '../api/types';
import { runRow } from './runs';

export const recentRun = (id: string, score: number, given: Partial<RecentRun> = {}): RecentRun => ({
  id,
  timestamp: '2026-02-04T10:00:00.000Z',
  verdict: 'passed',
  score,
  low: score - 0.03,
  high: score + 0.03,
  ...given,
});

export const experimentRow = (given: Partial<ExperimentRow> = {}): ExperimentRow => {
  const latest = given.latest ?? runRow();
  return {
    name: latest.name,
    runs: 34,
    latest,
    recent: [recentRun('old1', 0.88), recentRun(latest.id, 0.9)],
    change: null,
    ...given,
  };
};

export const baselineChange = (given: Partial<BaselineChange> = {}): BaselineChange => ({
  of: 'a1b2c3',
  baselineRun: 'base1',
  scores: {
    correctness: { change: -0.042, low: -0.07, high: -0.01, verdict: 'worse' },
    tone: { change: 0.004, low: -0.02, high: 0.03, verdict: 'within-noise' },
  },
  ...given,
});
