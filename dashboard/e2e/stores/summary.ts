// The summary of a run, derived from its items.
import type { Execution, Item, Report, ScoreStats } from '../../src/api/types';
import type { PlannedEvaluator } from './plan';
import { usage } from './prices';
import { binomial, deviation, mean, spread, studentT, sum, wilson } from './statistics';

export const PASS_MARK = 0.5;

export function executionsOf(item: Item): Execution[] {
  return item.runs ?? [item];
}

export function scoresOf(item: Item, evaluator: string): number[] {
  return executionsOf(item).flatMap((run) => run.evaluations[evaluator]?.score ?? []);
}

/** Whether the agent failed in any trial, or an evaluator gave no score. */
export const isInError = (item: Item) =>
  executionsOf(item).some(
    (run) =>
      run.status !== 'ok' ||
      Object.values(run.evaluations).some((evaluation) => evaluation.score === undefined),
  );

export function summaryOf(
  items: Item[],
  evaluators: PlannedEvaluator[],
  durationMs: number,
): Report['summary'] {
  const executions = items.flatMap(executionsOf);
  const evaluations = executions.flatMap((run) => Object.values(run.evaluations));
  const used = executions.flatMap((run) => usage(run) ?? []);
  const failed = items.filter((item) => item.status !== 'ok');
  const latencies = items.map((item) => item.latencyMs);
  const scores = evaluators.flatMap(({ name, passMark }) => {
    const stats = statsOf(items, name, passMark ?? PASS_MARK);
    return stats ? [[name, stats] as const] : [];
  });
  return {
    totalItems: items.length,
    totalDurationMs: durationMs,
    avgLatencyMs: latencies.length > 0 ? mean(latencies) : 0,
    ...(used.length > 0 && {
      totalTokens: sum(used.map((one) => one.tokens)),
      estimatedCost: sum(used.map((one) => one.cost)),
    }),
    scores: Object.fromEntries(scores),
    successfulItems: items.length - failed.length,
    failedItems: failed.length,
    timeouts: failed.filter((item) => item.status === 'timeout').length,
    evalErrors: evaluations.filter((evaluation) => evaluation.score === undefined).length,
    passedItems: items.filter((item) => item.passed).length,
    lowItems: items.filter((item) => !item.passed && !isInError(item)).length,
    ...judgesOf(executions),
    ...usersOf(executions),
    ...(latencies.length > 0 && { latency: spread(latencies) }),
  };
}

function judgesOf(executions: Execution[]) {
  const judges = executions.flatMap((run) =>
    Object.values(run.evaluations).flatMap((one) => one.judge ?? []),
  );
  if (judges.length === 0) return {};
  return {
    judgeCost: sum(judges.map((one) => one.cost)),
    judgeTokens: sum(judges.map((one) => one.tokens.input + one.tokens.output)),
    judgeCalls: sum(judges.map((one) => one.calls)),
    judgeCached: sum(judges.map((one) => one.cached)),
    judgeModels: [...new Set(judges.flatMap((one) => one.models))].sort(),
  };
}

function usersOf(executions: Execution[]) {
  const users = executions.flatMap((run) => run.transcript?.user ?? []);
  if (users.length === 0) return {};
  return {
    simulatedUsers: {
      models: [...new Set(users.flatMap((one) => one.models))],
      calls: sum(users.map((one) => one.calls)),
      cached: sum(users.map((one) => one.cached)),
      tokens: {
        input: sum(users.map((one) => one.tokens.input)),
        output: sum(users.map((one) => one.tokens.output)),
      },
      cost: sum(users.map((one) => one.cost)),
    },
  };
}

function statsOf(items: Item[], evaluator: string, mark: number): ScoreStats | undefined {
  const byItem = items.map((item) => scoresOf(item, evaluator)).filter((scores) => scores.length > 0);
  const scores = byItem.flat();
  if (scores.length === 0) return undefined;
  const average = mean(scores);
  const error = deviation(byItem.map(mean), 1) / Math.sqrt(byItem.length);
  const passes = scores.filter((score) => score >= mark).length;
  const runs = Math.max(...byItem.map((one) => one.length));
  const half = studentT(Math.max(1, byItem.length - 1)) * error;
  const isBinary = runs === 1 && scores.every((score) => score === 0 || score === 1);
  return {
    avg: average,
    ...spread(scores),
    count: scores.length,
    stddev: deviation(scores, 0),
    stdError: error,
    ci95: isBinary
      ? wilson(passes, scores.length)
      : { low: Math.max(0, average - half), high: Math.min(1, average + half) },
    passRate: passes / scores.length,
    ...(runs === 1 ? { passRateCi95: wilson(passes, scores.length) } : overTrials(byItem, runs, mark)),
  };
}

/** The probabilities that at least one of k trials passes, and that all of them pass. */
function overTrials(byItem: number[][], runs: number, mark: number) {
  const passing = byItem
    .filter((scores) => scores.length === runs)
    .map((scores) => scores.filter((score) => score >= mark).length);
  if (passing.length === 0) return {};
  const counts = Array.from({ length: runs }, (_, place) => place + 1);
  const average = (figure: (passes: number) => number) => mean(passing.map(figure));
  return {
    passAtK: counts.map((k) => average((passes) => 1 - binomial(runs - passes, k) / binomial(runs, k))),
    passHatK: counts.map((k) => average((passes) => binomial(passes, k) / binomial(runs, k))),
  };
}
