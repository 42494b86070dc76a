// Compares a run of a store with its baseline, over the items in both.
import type { Comparison, Difference, Item, Report } from '../../src/api/types';
import type { PlannedEvaluator } from './plan';
import { usage } from './prices';
import { deviation, mean, studentT, sum, twoSided } from './statistics';
import { executionsOf, scoresOf } from './summary';

/** The relevant difference; a wider CI is inconclusive. */
const RELEVANT = 0.05;

type Run = Pick<Report, 'id' | 'name' | 'timestamp' | 'git' | 'config' | 'items'>;
type Metric = (item: Item) => number | undefined;
type Pair = { base: Item; other: Item };

export function comparisonOf(base: Run, other: Run, evaluators: PlannedEvaluator[]): Comparison {
  const known = new Map(base.items.map((item) => [item.key, item]));
  const pairs = other.items.flatMap((item) => {
    const before = known.get(item.key);
    return before ? [{ base: before, other: item }] : [];
  });
  const keys = new Set(other.items.map((item) => item.key));
  const names = evaluators.map((evaluator) => evaluator.name);
  return {
    base: identity(base),
    other: identity(other),
    items: {
      matched: pairs.length,
      changed: [],
      added: other.items.map((item) => item.key).filter((key) => !known.has(key)),
      removed: [...known.keys()].filter((key) => !keys.has(key)),
    },
    notes: [],
    evaluators: names.flatMap((name) => difference(name, 'score', pairs, scoreBy(name)) ?? []),
    amounts: amounts(pairs),
    regressed: regressed(pairs, names),
  };
}

function amounts(pairs: Pair[]): Difference[] {
  const used = (item: Item) => executionsOf(item).flatMap((run) => usage(run) ?? []);
  const total = (values: number[]) => (values.length > 0 ? sum(values) : undefined);
  return [
    difference('latency', 'latency', pairs, (item) => (item.status === 'ok' ? item.latencyMs : undefined)),
    difference('tokens', 'tokens', pairs, (item) => total(used(item).map((one) => one.tokens))),
    difference('cost', 'cost', pairs, (item) => total(used(item).map((one) => one.cost))),
    difference('errors', 'errors', pairs, (item) => (item.status === 'ok' ? 0 : 1)),
  ].filter((one) => one !== undefined);
}

function scoreBy(evaluator: string): Metric {
  return (item) => {
    const scores = scoresOf(item, evaluator);
    return scores.length > 0 ? mean(scores) : undefined;
  };
}

function difference(
  name: string,
  quantity: Difference['quantity'],
  pairs: Pair[],
  metric: Metric,
): Difference | undefined {
  const measured = pairs.flatMap((pair) => {
    const [base, other] = [metric(pair.base), metric(pair.other)];
    return base === undefined || other === undefined ? [] : [{ base, other }];
  });
  if (measured.length < 2) return undefined;
  const changes = measured.map(({ base, other }) => other - base);
  const change = mean(changes);
  const error = deviation(changes, 1) / Math.sqrt(changes.length);
  const half = studentT(changes.length - 1) * error;
  const chance = error > 0 ? twoSided(change / error) : 1;
  const base = mean(measured.map((one) => one.base));
  const relevant = quantity === 'score' || quantity === 'errors' ? RELEVANT : RELEVANT * base;
  const isUp = quantity === 'score' ? change > 0 : change < 0;
  const moved = isUp ? 'better' : 'worse';
  const verdict = chance < 0.05 ? moved : half <= relevant ? 'within-noise' : 'inconclusive';
  const better = changes.filter((one) => (quantity === 'score' ? one > 0 : one < 0)).length;
  const equal = changes.filter((one) => one === 0).length;
  const enough = Math.ceil(changes.length * (half / relevant) ** 2);
  return {
    name,
    quantity,
    base,
    other: mean(measured.map((one) => one.other)),
    difference: change,
    ci95: { low: change - half, high: change + half },
    pValue: chance,
    pAdjusted: chance,
    test: 'sign-flip-monte-carlo',
    smallestDetectable: 2.8 * error,
    verdict,
    settledBy: verdict === 'inconclusive' ? { items: enough, runs: null } : null,
    items: changes.length,
    clusters: changes.length,
    better,
    worse: changes.length - better - equal,
    equal,
    unmeasured: pairs.length - changes.length,
  };
}

function regressed(pairs: Pair[], evaluators: string[]): Comparison['regressed'] {
  const items = pairs.map((pair) => {
    const changes = evaluators.map((evaluator) => {
      const figure = scoreBy(evaluator);
      return { evaluator, base: figure(pair.base) ?? null, other: figure(pair.other) ?? null };
    });
    const drop = (change: (typeof changes)[number]) =>
      (change.base ?? 0) - (change.other ?? change.base ?? 0);
    const scores = changes.filter((change) => drop(change) > 0).sort((one, two) => drop(two) - drop(one));
    const failed = pair.other.status !== 'ok' && pair.base.status === 'ok';
    const size = failed ? 1 : scores[0] ? drop(scores[0]) : 0;
    return { size, item: { key: pair.other.key, ...(failed && { failed }), scores } };
  });
  const worse = items.filter(({ size }) => size > 0).sort((one, two) => two.size - one.size);
  return worse.slice(0, 20).map(({ item }) => item);
}

function identity({ id, name, timestamp, git, items, config }: Run): Comparison['base'] {
  return { id, name, timestamp, ...(git && { git }), items: items.length, runs: config.runs };
}
