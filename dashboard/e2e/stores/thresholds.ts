// Evaluates the thresholds of the stores.
import type { Item, Report, ThresholdOutcome } from '../../src/api/types';
import { usage } from './prices';
import { mean, spread, sum } from './statistics';
import { executionsOf, scoresOf } from './summary';

type CiStatus = NonNullable<Report['ciStatus']>;
type RunData = Pick<Report, 'items' | 'summary' | 'baseline'>;

const UNITS: Record<string, number> = { ms: 1, s: 1000 };

interface Threshold {
  written: string;
  category: string;
  metric: string;
  atLeast: boolean;
  bound: number;
}

function parse(written: string): Threshold {
  const parts = /^(.+)\.([a-z0-9_]+) (>=|<=) ([\d.]+)([a-z]*)$/.exec(written);
  if (!parts) throw new Error(`invalid threshold: ${written}`);
  const [, category = '', metric = '', comparison, bound, unit = ''] = parts;
  return {
    written,
    category,
    metric,
    atLeast: comparison === '>=',
    bound: Number(bound) * (UNITS[unit] ?? 1),
  };
}

export function ciStatusOf(written: string[], run: RunData): CiStatus | undefined {
  if (written.length === 0) return undefined;
  const evaluated = written.map(parse).map((threshold) => ({ threshold, outcome: evaluate(threshold, run) }));
  const violation = ({ threshold, outcome }: (typeof evaluated)[number]) => ({
    category: threshold.category.replace('vs_baseline.', ''),
    metric: threshold.metric,
    expected: threshold.bound,
    actual: outcome.actual ?? null,
    message: outcome.message,
  });
  const missed = evaluated.filter(({ outcome }) => outcome.finding === 'missed');
  const open = evaluated.filter(({ outcome }) => outcome.finding === 'inconclusive');
  const all = `${evaluated.length} threshold${evaluated.length === 1 ? '' : 's'}`;
  return {
    passed: missed.length === 0,
    violations: missed.map(violation),
    inconclusive: open.map(violation),
    thresholds: evaluated.map(({ outcome }) => outcome),
    summary: summaryOf(all, missed.length, open.length),
  };
}

function summaryOf(all: string, missed: number, open: number): string {
  if (missed > 0) return `${missed} of ${all} missed${open > 0 ? `, ${open} inconclusive` : ''}`;
  return open > 0 ? `${open} of ${all} inconclusive` : `${all} met`;
}

function evaluate(threshold: Threshold, run: RunData): ThresholdOutcome {
  const { written, category, metric, atLeast, bound } = threshold;
  const name = written.replaceAll(' ', '');
  if (category.startsWith('vs_baseline.')) return evaluateDrop(threshold, run);
  const actual = measure(category, metric, run);
  if (actual === undefined) {
    const message = `\`${written}\` has nothing to measure: no output was scored`;
    return { name, finding: 'missed', passed: false, message };
  }
  const passed = atLeast ? actual >= bound : actual <= bound;
  const figure = formatMetric(category, actual);
  const message = `${category}.${metric} is ${figure}, which ${passed ? 'meets' : 'misses'} \`${written}\``;
  return { name, finding: passed ? 'met' : 'missed', passed, actual, figure, message };
}

/** Evaluates the drop of a mean; inconclusive if the CI of the difference contains the bound. */
function evaluateDrop({ written, category, bound }: Threshold, run: RunData): ThresholdOutcome {
  const name = written.replaceAll(' ', '');
  const evaluator = category.replace('vs_baseline.', '');
  const difference = run.baseline?.evaluators.find((one) => one.name === evaluator);
  if (!difference?.ci95) {
    const message = `\`${written}\` cannot be evaluated: there is no baseline yet`;
    return { name, finding: 'inconclusive', passed: true, againstBaseline: true, message };
  }
  const [drop, least, most] = [-difference.difference, -difference.ci95.high, -difference.ci95.low];
  const finding = most <= bound ? 'met' : least > bound ? 'missed' : 'inconclusive';
  const relation = { met: 'which meets', missed: 'which misses', inconclusive: 'inconclusive for' }[finding];
  const interval = `95% CI ${least.toFixed(3)} to ${most.toFixed(3)}`;
  const message = `the drop of ${evaluator} is ${drop.toFixed(3)} (${interval}), ${relation} \`${written}\``;
  const figure = drop.toFixed(3);
  return {
    name,
    finding,
    passed: finding !== 'missed',
    againstBaseline: true,
    actual: drop,
    figure,
    message,
  };
}

function measure(category: string, metric: string, run: RunData): number | undefined {
  if (metric === 'pass_rate') return run.summary.scores[category]?.passRate ?? undefined;
  const values = run.items.flatMap((item) => valuesOf(category, item));
  if (values.length === 0) return undefined;
  const figures: Record<string, number> = { avg: mean(values), total: sum(values), ...spread(values) };
  return figures[metric];
}

function valuesOf(category: string, item: Item): number[] {
  const used = executionsOf(item).flatMap((run) => usage(run) ?? []);
  switch (category) {
    case 'latency':
      return [item.latencyMs];
    case 'tokens':
      return used.length > 0 ? [sum(used.map((one) => one.tokens))] : [];
    case 'cost':
      return used.length > 0 ? [sum(used.map((one) => one.cost))] : [];
    default:
      return scoresOf(item, category);
  }
}

function formatMetric(category: string, actual: number): string {
  if (category === 'latency') {
    return actual < 1000
      ? `${Number(actual.toPrecision(3))} ms`
      : `${Number((actual / 1000).toPrecision(3))} s`;
  }
  if (category === 'cost') return `$${actual.toPrecision(3)}`;
  return String(Number(actual.toFixed(3)));
}
