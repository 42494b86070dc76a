// Sample statistics, as in `cobalt-core/src/report/stats`.
import type { Interval } from '../../src/api/types';

/** The 97.5% quantile of the normal distribution. */
const Z = 1.959964;

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** The standard deviation with the divisor `n - ddof`: 0 for a population, 1 for a sample. */
export function deviation(values: readonly number[], ddof: 0 | 1): number {
  const middle = mean(values);
  const squares = sum(values.map((value) => (value - middle) ** 2));
  return Math.sqrt(squares / Math.max(1, values.length - ddof));
}

/** A percentile of sorted values, linearly interpolated. */
function percentile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

export function spread(values: readonly number[]) {
  const sorted = [...values].sort((one, two) => one - two);
  return {
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
  };
}

/** The 97.5% quantile of Student's t, by the first terms of its expansion about the normal quantile. */
export function studentT(freedom: number): number {
  const first = (Z ** 3 + Z) / 4;
  const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96;
  return Z + first / freedom + second / freedom ** 2;
}

/** The 95% Wilson interval of a proportion. */
export function wilson(passes: number, all: number): Interval {
  const share = passes / all;
  const middle = (share + Z ** 2 / (2 * all)) / (1 + Z ** 2 / all);
  const half = (Z / (1 + Z ** 2 / all)) * Math.sqrt((share * (1 - share)) / all + Z ** 2 / (4 * all ** 2));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** The binomial coefficient: the number of ways to choose `some` of `all`. */
export function binomial(all: number, some: number): number {
  let ways = 1;
  for (let taken = 0; taken < some; taken += 1) ways = (ways * (all - taken)) / (taken + 1);
  return ways;
}

/** The two-sided p-value of a z-score, by Abramowitz and Stegun 26.2.17. */
export function twoSided(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const series =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return Math.min(1, (2 * series * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI));
}
