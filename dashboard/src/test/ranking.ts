// Ranking fixtures: each helper returns a complete object, and a test overrides what it is about.
import type { Matrix, MatrixCell, PairDifference, RankedRun, Ranking, VariantGroup } from '../api/types';
import { difference } from './comparison';

const FIRST_RANK = { best: 1, worst: 1 };

export const rankedRun = (label: string, given: Partial<RankedRun> = {}): RankedRun => ({
  label,
  run: {
    id: `run-${label}`,
    name: `qa::${label}`,
    timestamp: '2026-02-05T10:00:00.000Z',
    items: 40,
    runs: 1,
  },
  settings: { model: `gpt-${label}`, temperature: 0 },
  verdict: 'passed',
  items: 40,
  passedItems: 36,
  failedItems: 0,
  scores: [
    { evaluator: 'correct', mean: 0.9, ci95: { low: 0.8, high: 0.95 }, passRate: 0.9, rank: FIRST_RANK },
  ],
  meanScore: 0.9,
  latencyMs: 820,
  costPer1000: 1.2,
  tokensPerItem: 1500,
  isOnParetoFront: true,
  ...given,
});

export const pair = (
  base: number,
  other: number,
  given: Partial<PairDifference['difference']> = {},
): PairDifference => ({ base, other, difference: difference({ name: 'correct', ...given }) });

/** `large` and `mini` are equally good, `nano` is worse, and `mini` is the cheapest that is not. */
export const ranking = (given: Partial<Ranking> = {}): Ranking => ({
  experiment: 'qa',
  group: '0123456789ab',
  runs: [
    rankedRun('nano', {
      scores: [
        { evaluator: 'correct', mean: 0.6, ci95: { low: 0.5, high: 0.7 }, rank: { best: 3, worst: 3 } },
      ],
      meanScore: 0.6,
      costPer1000: 0.4,
    }),
    rankedRun('mini', {
      isDefault: true,
      scores: [
        { evaluator: 'correct', mean: 0.9, ci95: { low: 0.8, high: 0.95 }, rank: { best: 1, worst: 2 } },
      ],
    }),
    rankedRun('large', {
      scores: [
        { evaluator: 'correct', mean: 0.89, ci95: { low: 0.79, high: 0.94 }, rank: { best: 1, worst: 2 } },
      ],
      meanScore: 0.89,
      costPer1000: 9,
      isOnParetoFront: false,
    }),
  ],
  pairs: [
    pair(0, 1, { base: 0.6, other: 0.9, difference: 0.3, ci95: { low: 0.2, high: 0.4 }, verdict: 'better' }),
    pair(0, 2, {
      base: 0.6,
      other: 0.89,
      difference: 0.29,
      ci95: { low: 0.2, high: 0.4 },
      verdict: 'better',
    }),
    pair(1, 2, { base: 0.9, other: 0.89, difference: -0.01, verdict: 'within-noise' }),
  ],
  recommendation: { best: 1, cheapest: 1, text: '`mini` is the cheapest that is not worse than another' },
  ...given,
});

export const group = (given: Partial<VariantGroup> = {}): VariantGroup => ({
  group: '0123456789ab',
  ranking: ranking(),
  live: [],
  ...given,
});

export const cell = (given: Partial<MatrixCell> = {}): MatrixCell => ({
  passed: true,
  status: 'ok',
  scores: { correct: 1 },
  output: 'Paris',
  ...given,
});

export const matrix = (given: Partial<Matrix> = {}): Matrix => ({
  runs: ['nano', 'mini', 'large'].map((variant) => ({
    id: `run-${variant}`,
    name: `qa::${variant}`,
    variant,
    evaluators: ['correct', 'cited'],
  })),
  items: [
    {
      index: 0,
      key: 'france',
      input: 'What is the capital of France?',
      contentChanged: false,
      cells: [
        cell({ passed: false, scores: { correct: 0 }, low: ['correct'], output: 'Lyon' }),
        cell({ notApplicable: ['cited'] }),
        null,
      ],
    },
  ],
  matching: 1,
  total: 40,
  found: 40,
  disagreeing: 1,
  failed: 12,
  ...given,
});
