// Builds the report that a real run would have written for a plan.
import type { Execution, Item, Report } from '../../src/api/types';
import { comparisonOf } from './baseline';
import type { Plan, PlannedItem } from './plan';
import { PRICES_AS_OF } from './prices';
import { digits } from './random';
import { deviation, mean, spread, sum } from './statistics';
import { isInError, PASS_MARK, scoresOf, summaryOf } from './summary';
import { ciStatusOf } from './thresholds';
import { trafficSummaryOf } from './traffic';

export function reportOf(plan: Plan): Report {
  const { name, evaluators, thresholds = [], partialOf } = plan;
  const strict = plan.strict ?? thresholds.length === 0;
  const items = plan.items.map((item, index) => itemOf(plan, item, index));
  const concurrency = plan.concurrency ?? 8;
  const busyMs = sum(items.map((item) => item.latencyMs * (plan.runs ?? 1)));
  const traffic = trafficSummaryOf(items);
  const summary = {
    ...summaryOf(items, evaluators, Math.round((busyMs / concurrency) * 1.15 + 180)),
    ...(traffic && { traffic }),
  };
  const whole = {
    id: digits(`${name} ${plan.number}`, 12),
    name,
    timestamp: plan.timestamp.toISOString(),
    git: plan.commit ? { commit: plan.commit, dirty: plan.dirty ?? false } : undefined,
    config: {
      runs: plan.runs ?? 1,
      concurrency,
      timeout: plan.timeoutMs ?? 30_000,
      evaluators: evaluators.map((evaluator) => evaluator.name),
      passMarks: evaluators.map((evaluator) => evaluator.passMark ?? PASS_MARK),
      evaluatorHashes: evaluators.map((evaluator) => digits(`${name} ${evaluator.name}`, 16)),
      strict,
      thresholds: thresholds.map((threshold) => threshold.replaceAll(' ', '')),
      writtenThresholds: thresholds,
    },
    items,
  };
  const isPartial = partialOf !== undefined;
  const baseline = plan.baseline && !isPartial ? comparisonOf(plan.baseline, whole, evaluators) : undefined;
  const ciStatus = isPartial ? undefined : ciStatusOf(thresholds, { items, summary, baseline });
  const hasFailed = items.some((item) => (strict ? !item.passed : isInError(item)));
  const isOpen = ciStatus === undefined && thresholds.length > 0;
  const verdict = hasFailed || ciStatus?.passed === false ? 'failed' : isOpen ? 'notEvaluated' : 'passed';
  return {
    schema: 1,
    id: whole.id,
    name,
    timestamp: whole.timestamp,
    tags: plan.tags ?? [],
    ...(plan.file && { declaredAt: { file: plan.file, line: 24 } }),
    config: whole.config,
    summary,
    ...(ciStatus && { ciStatus }),
    passed: verdict === 'passed',
    verdict,
    ...(isPartial && { partial: true }),
    dataset: {
      source: plan.dataset ?? 'inline',
      items: partialOf ?? items.length,
      hash: digits(`${name} data`, 64),
    },
    ...(whole.git && { git: whole.git }),
    sources: digits(`${name} ${plan.commit}`, 64),
    ...(baseline && { baseline }),
    pricesAsOf: PRICES_AS_OF,
    items,
  };
}

function itemOf(plan: Plan, planned: PlannedItem, index: number): Item {
  const { executions } = planned;
  const [first] = executions;
  if (!first) throw new Error(`the item ${planned.key} has no execution`);
  const item: Item = {
    index,
    key: planned.key,
    input: planned.input,
    output: first.output,
    latencyMs: mean(executions.map((run) => run.latencyMs)),
    evaluations: first.evaluations,
    status: worst(executions),
    passed: true,
  };
  const error = executions.find((run) => run.error)?.error;
  if (error) item.error = error;
  if (executions.length > 1) {
    item.runs = executions;
    item.aggregated = { avgLatencyMs: item.latencyMs, evaluations: aggregationsOf(plan, item) };
  } else {
    if (first.traffic) item.traffic = first.traffic;
    if (first.transcript) item.transcript = first.transcript;
    if (first.workspace) item.workspace = first.workspace;
    if (first.trace) item.trace = first.trace;
    if (first.faults) item.faults = first.faults;
  }
  const isLow = plan.evaluators.some(({ name, passMark }) =>
    scoresOf(item, name).some((score) => score < (passMark ?? PASS_MARK)),
  );
  item.passed = !isInError(item) && !isLow;
  return item;
}

function aggregationsOf(plan: Plan, item: Item) {
  const scored = plan.evaluators.flatMap(({ name }) => {
    const scores = scoresOf(item, name);
    if (scores.length === 0) return [];
    return [[name, { mean: mean(scores), stddev: deviation(scores, 0), ...spread(scores), scores }] as const];
  });
  return Object.fromEntries(scored);
}

function worst(executions: Execution[]): Item['status'] {
  const states = executions.map((run) => run.status);
  return states.includes('error') ? 'error' : states.includes('timeout') ? 'timeout' : 'ok';
}
