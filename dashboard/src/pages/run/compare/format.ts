// Formats the values of a difference in a suitable unit, like `cargo cobalt compare`.
import type { Difference } from '../../../api/types';
import { formatCount, formatFixed } from '../../../lib/format';

type MetricPair = Pick<Difference, 'base' | 'other' | 'quantity' | 'unit'>;

/** The format for a metric and order of magnitude. */
interface Unit {
  factor: number;
  decimals: number;
  prefix: string;
  suffix: string;
}

/** The decimals of a cost. */
const COST_DECIMALS = { min: 2, max: 12, small: 5 };

/** The decimals for three significant digits of a cost; two digits if these need more than five decimals. */
function costDecimals(usd: number): number {
  if (usd <= 0) return COST_DECIMALS.min;
  const first = -Math.floor(Math.log10(usd));
  const decimals = Math.min(first + 2, Math.max(first + 1, COST_DECIMALS.small));
  return Math.min(Math.max(decimals, COST_DECIMALS.min), COST_DECIMALS.max);
}

function unitOf(difference: MetricPair): Unit {
  const size = Math.max(Math.abs(difference.base), Math.abs(difference.other));
  const unit = (factor: number, decimals: number, suffix: string) => ({
    factor,
    decimals,
    prefix: '',
    suffix,
  });
  switch (difference.quantity) {
    case 'score':
      return unit(1, 3, '');
    case 'errors':
      return unit(100, 1, '%');
    case 'tokens':
      return unit(1, size < 100 ? 1 : 0, '');
    case 'latency':
      if (size < 1) return unit(1000, size < 0.1 ? 1 : 0, ' µs');
      return size < 1000 ? unit(1, size < 100 ? 1 : 0, ' ms') : unit(0.001, 2, ' s');
    case 'metric':
      return unit(1, metricDecimals(size), difference.unit ? ` ${difference.unit}` : '');
    case 'cost':
      return { factor: 1, decimals: costDecimals(size), prefix: '$', suffix: '' };
  }
}

/** The decimals that show three significant digits of a metric, at most six. */
const metricDecimals = (size: number) =>
  size === 0 ? 2 : Math.min(Math.max(2 - Math.floor(Math.log10(size)), 0), 6);

const isNonZero = (text: string) => /[1-9]/.test(text);

function format(unit: Unit, value: number): string {
  const [whole = '', fraction] = formatFixed(Math.abs(value * unit.factor), unit.decimals).split('.');
  const number = formatCount(Number(whole)) + (fraction === undefined ? '' : `.${fraction}`);
  // A value that rounds to 0 has no sign.
  const sign = value < 0 && isNonZero(number) ? '−' : '';
  return `${sign}${unit.prefix}${number}${unit.suffix}`;
}

function formatWithSign(unit: Unit, value: number): string {
  const text = format(unit, value);
  return value > 0 && isNonZero(text) ? `+${text}` : text;
}

/** A p-value, with as many decimals as show on which side of 0.05 it is. */
export function formatPValue(p: number): string {
  if (p < 0.001) return '<0.001';
  let decimals = 3;
  while (p < 0.05 && Number(formatFixed(p, decimals)) >= 0.05 && decimals < 12) decimals += 1;
  return formatFixed(p, decimals);
}

/** A value in the unit of a difference. */
export const formatValue = (difference: MetricPair, value: number) => format(unitOf(difference), value);

/** A signed value in the unit of a difference. */
export const formatSignedValue = (difference: MetricPair, value: number) =>
  formatWithSign(unitOf(difference), value);

/** The CI, with its unit at the end: `−0.12 to +0.02`. */
export function formatInterval(difference: Difference): string | undefined {
  if (difference.ci95 === null) return undefined;
  const unit = unitOf(difference);
  const number = { ...unit, prefix: '', suffix: '' };
  return `${formatWithSign(number, difference.ci95.low)} to ${formatWithSign(number, difference.ci95.high)}${unit.suffix}`;
}

/** The min detectable difference; `none` if it exceeds the range of the metric. */
export function minDetectable(difference: Difference): string | undefined {
  const smallest = difference.smallestDetectable;
  if (smallest === null) return undefined;
  const isShare = difference.quantity === 'score' || difference.quantity === 'errors';
  return isShare && smallest > 1 ? 'none' : formatValue(difference, smallest);
}

/** The displayed name of a score or metric. The cost is that of the agent. */
export const metricName = ({ name, quantity }: Difference) => (quantity === 'cost' ? 'agent cost' : name);

/** Whether a higher value is better. */
export const isHigherBetter = (quantity: Difference['quantity']) => quantity === 'score';
