// Run and item fixtures: each helper returns a complete object, and a test overrides what it is about.
import type {
  Evaluation,
  Item,
  ItemField,
  ItemRow,
  Items,
  Overview,
  Report,
  ScoreStats,
  WholeItem,
} from '../api/types';

const stats = (given: Partial<ScoreStats> = {}): ScoreStats => ({
  avg: 0.9,
  min: 0,
  max: 1,
  p50: 0.95,
  p95: 1,
  p99: 1,
  count: 12,
  stddev: 0.1,
  ci95: { low: 0.85, high: 0.95 },
  passRate: 0.75,
  ...given,
});

export const report = (given: Partial<Report> = {}): Report => ({
  schema: 1,
  id: 'a1b2c3',
  name: 'answers',
  timestamp: '2026-02-05T10:00:00.000Z',
  tags: ['nightly'],
  items: [],
  passed: true,
  verdict: 'passed',
  config: {
    runs: 1,
    concurrency: 4,
    timeout: 1000,
    strict: false,
    evaluators: ['correctness'],
    passMarks: [0.5],
  },
  summary: {
    totalItems: 12,
    totalDurationMs: 4200,
    avgLatencyMs: 310,
    successfulItems: 12,
    passedItems: 10,
    lowItems: 1,
    failedItems: 0,
    timeouts: 0,
    evalErrors: 0,
    latency: { min: 100, p50: 300, p95: 600, p99: 800, max: 900 },
    scores: { correctness: stats() },
  },
  ...given,
});

export const overview = (given: Partial<Overview> = {}): Overview => ({
  run: report(),
  state: 'finished',
  finishedItems: 12,
  plannedItems: 12,
  histograms: {
    correctness: Array.from({ length: 20 }, (_, part) => (part === 4 ? 2 : part === 19 ? 10 : 0)),
  },
  states: { passed: 10, failing: 2, low: 1, error: 1, timeout: 0, evalError: 0, diverged: 0, retried: 0 },
  ...given,
});

export const itemRow = (index: number, given: Partial<ItemRow> = {}): ItemRow => ({
  key: `key-${index}`,
  name: `item ${index}`,
  index,
  passed: true,
  status: 'ok',
  runs: 1,
  retried: 0,
  low: [],
  evalErrors: [],
  input: `question ${index}`,
  output: `answer ${index}`,
  latencyMs: 310,
  scores: { correctness: 0.9 },
  ...given,
});

/** The traffic of a run: 10 of its 12 items were replayed, 2 diverged. */
export const traffic = (
  given: Partial<NonNullable<Report['summary']['traffic']>> = {},
): Report['summary']['traffic'] => ({
  replayedItems: 10,
  liveItems: 2,
  divergedItems: 2,
  replayed: 31,
  live: 2,
  recordedAt: '2026-01-21T12:00:00.000Z',
  liveCost: 0.03,
  ...given,
});

const FIELDS: ItemField[] = [
  { name: 'expected', label: 'Expected', type: 'text' },
  { name: 'input.topic', label: 'topic (input)', type: 'text', values: ['billing', 'refunds'] },
  { name: 'turns', label: 'Turns', type: 'number' },
];

/** A response of the items endpoint: the requested page of `matching` items. */
export const items =
  (matching: number) =>
  (parameters: URLSearchParams): Items => {
    const offset = Number(parameters.get('offset'));
    const length = Math.max(0, Math.min(Number(parameters.get('limit')), matching - offset));
    return {
      matching,
      total: matching,
      items: Array.from({ length }, (_, place) => itemRow(offset + place)),
      fields: FIELDS,
    };
  };

export const evaluation = (given: Partial<Evaluation> = {}): Evaluation => ({ score: 0.9, ...given });

const item = (index: number, given: Partial<Item> = {}): Item => ({
  key: `key-${index}`,
  index,
  input: { question: `question ${index}`, expectedOutput: 'the red fox' },
  output: { output: 'the grey fox' },
  latencyMs: 310,
  evaluations: { correctness: evaluation() },
  status: 'ok',
  passed: true,
  ...given,
});

/** A response of the item endpoint, with the neighbours among 57 items. */
export const wholeItem = (
  index: number,
  given: Partial<Item> = {},
  row: Partial<ItemRow> = {},
): WholeItem => ({
  item: item(index, given),
  row: itemRow(index, row),
  position: index,
  matching: 57,
  previous: index > 0 ? `key-${index - 1}` : undefined,
  next: `key-${index + 1}`,
});
