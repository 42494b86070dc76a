// The figures of a difference in the unit that suits them, as `cargo cobalt compare` writes them.
import type { Difference } from '../../api/types';
import { formatCount, formatFixed } from '../../lib/format';

type MetricPair = Pick<Difference, 'base' | 'other' | 'quantity'>;

/** How figures of one kind and size are written. */
interface Unit {
  factor: number;
  decimals: number;
  prefix: string;
  suffix: string;
}

/** The fewest and the most decimals of an amount in dollars. */
const COST_DECIMALS = { fewest: 2, most: 12, small: 5 };

/** The decimals that show three digits of an amount in dollars, and two of one so small that they need more than five. */
function costDecimals(usd: number): number {
  if (usd <= 0) return COST_DECIMALS.fewest;
  const first = -Math.floor(Math.log10(usd));
  const wanted = Math.min(first + 2, Math.max(first + 1, COST_DECIMALS.small));
  return Math.min(Math.max(wanted, COST_DECIMALS.fewest), COST_DECIMALS.most);
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
      return unit(100, 1, ' %');
    case 'tokens':
      return unit(1, size < 100 ? 1 : 0, '');
    case 'latency':
      if (size < 1) return unit(1000, size < 0.1 ? 1 : 0, ' µs');
      return size < 1000 ? unit(1, size < 100 ? 1 : 0, ' ms') : unit(0.001, 2, ' s');
    case 'cost':
      return { factor: 1, decimals: costDecimals(size), prefix: '$', suffix: '' };
  }
}

const isNonZero = (text: string) => /[1-9]/.test(text);

function format(unit: Unit, value: number): string {
  const [whole = '', fraction] = formatFixed(Math.abs(value * unit.factor), unit.decimals).split('.');
  const number = formatCount(Number(whole)) + (fraction === undefined ? '' : `.${fraction}`);
  // What is rounded to nothing has no sign.
  const sign = value < 0 && isNonZero(number) ? '−' : '';
  return `${sign}${unit.prefix}${number}${unit.suffix}`;
}

function formatWithSign(unit: Unit, value: number): string {
  const text = format(unit, value);
  return value > 0 && isNonZero(text) ? `+${text}` : text;
}

/** A p-value, never shown as one that reaches a level which it does not. */
export function formatPValue(p: number): string {
  if (p < 0.001) return '<0.001';
  return formatFixed(p < 0.05 ? Math.floor(p * 1000) / 1000 : p, 3);
}

/** A value in the unit of a difference. */
export const formatValue = (difference: MetricPair, value: number) => format(unitOf(difference), value);

/** A value with its sign in the unit of a difference. */
export const formatSignedValue = (difference: MetricPair, value: number) =>
  formatWithSign(unitOf(difference), value);

/** The interval, its unit said once: `−0.12 to +0.02`. */
export function formatInterval(difference: Difference): string | undefined {
  if (difference.ci95 === null) return undefined;
  const unit = unitOf(difference);
  const number = { ...unit, prefix: '', suffix: '' };
  return `${formatWithSign(number, difference.ci95.low)} to ${formatWithSign(number, difference.ci95.high)}${unit.suffix}`;
}

/** The smallest detectable difference, or `none` where it is larger than scores and shares can differ. */
export function minDetectable(difference: Difference, none: string): string | undefined {
  const smallest = difference.smallestDetectable;
  if (smallest === null) return undefined;
  const isShare = difference.quantity === 'score' || difference.quantity === 'errors';
  return isShare && smallest > 1 ? none : formatValue(difference, smallest);
}

/** Whether more of a figure is better. */
export const isHigherBetter = (quantity: Difference['quantity']) => quantity === 'score';
