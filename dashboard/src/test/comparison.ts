// Comparison fixtures: each helper returns a complete object, and a test overrides what it is about.
import type {
  ComparedItem,
  ComparedOutput,
  ComparedRun,
  ComparedRuns,
  Comparison,
  Difference,
} from '../api/types';

export const difference = (given: Partial<Difference> = {}): Difference => ({
  name: 'correctness',
  quantity: 'score',
  base: 0.9,
  other: 0.7,
  difference: -0.2,
  ci95: { low: -0.31, high: -0.09 },
  pValue: 0.0004,
  pAdjusted: 0.0004,
  test: 'sign-flip-exact',
  smallestDetectable: 0.12,
  verdict: 'worse',
  settledBy: null,
  items: 12,
  clusters: 12,
  better: 1,
  worse: 8,
  equal: 3,
  unmeasured: 0,
  ...given,
});

const identity = (id: string) => ({
  id,
  name: 'answers',
  timestamp: '2026-02-05T10:00:00.000Z',
  items: 12,
  runs: 1,
});

export const comparison = (given: Partial<Comparison> = {}): Comparison => ({
  base: identity('aaa'),
  other: identity('bbb'),
  items: { matched: 12, changed: [], added: [], removed: [] },
  notes: [],
  evaluators: [difference()],
  amounts: [],
  ...given,
});

export const comparedRun = (given: Partial<ComparedRun> = {}): ComparedRun => ({
  id: 'aaa',
  name: 'answers',
  timestamp: '2026-02-05T10:00:00.000Z',
  passed: true,
  partial: false,
  tags: [],
  summary: {
    totalItems: 12,
    totalDurationMs: 4200,
    avgLatencyMs: 310,
    scores: {},
    successfulItems: 12,
    failedItems: 0,
    timeouts: 0,
    evalErrors: 0,
    passedItems: 9,
    lowItems: 3,
  } as unknown as ComparedRun['summary'],
  ...given,
});

export const output = (given: Partial<ComparedOutput> = {}): ComparedOutput => ({
  output: { output: 'Paris' },
  latencyMs: 120,
  evaluations: { correctness: { score: 1, reason: 'names the city' } },
  passed: true,
  runs: 1,
  failedRuns: 0,
  scores: { correctness: 1 },
  status: 'ok',
  ...given,
});

export const comparedItem = (given: Partial<ComparedItem> = {}): ComparedItem => ({
  index: 0,
  key: 'france',
  input: { input: 'What is the capital of France?' },
  outputs: [output(), output({ output: { output: 'Lyon' }, scores: { correctness: 0 } })],
  changes: [-1],
  scoreChanges: [[{ evaluator: 'correctness', base: 1, other: 0 }]],
  contentChanged: false,
  ...given,
});

export const compared = (given: Partial<ComparedRuns> = {}): ComparedRuns => ({
  runs: [comparedRun(), comparedRun({ id: 'bbb', passed: false })],
  scoreDiffs: { correctness: { scores: [0.9, 0.7], diffs: [0, -0.2] } },
  items: [comparedItem()],
  comparisons: [comparison()],
  matching: 1,
  total: 12,
  itemAt: null,
  found: 12,
  changed: 9,
  regressed: 8,
  improved: 1,
  ...given,
});
