// The figures of a difference in the unit that suits them, as `cargo cobalt compare` writes them.
import type { Difference } from '../../api/types';
import { count, fixed } from '../../lib/format';

type Measured = Pick<Difference, 'base' | 'other' | 'quantity'>;

/** How figures of one kind and size are written. */
interface Unit {
  factor: number;
  decimals: number;
  prefix: string;
  suffix: string;
}

/** The fewest and the most decimals of an amount in dollars. */
const CENTS = { fewest: 2, most: 12, small: 5 };

/** The decimals that show three digits of an amount in dollars, and two of one so small that they need more than five. */
function cents(usd: number): number {
  if (usd <= 0) return CENTS.fewest;
  const first = -Math.floor(Math.log10(usd));
  const wanted = Math.min(first + 2, Math.max(first + 1, CENTS.small));
  return Math.min(Math.max(wanted, CENTS.fewest), CENTS.most);
}

function unitOf(difference: Measured): Unit {
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
      return { factor: 1, decimals: cents(size), prefix: '$', suffix: '' };
  }
}

const isMoreThanNothing = (text: string) => /[1-9]/.test(text);

function plain(unit: Unit, value: number): string {
  const [whole = '', fraction] = fixed(Math.abs(value * unit.factor), unit.decimals).split('.');
  const number = count(Number(whole)) + (fraction === undefined ? '' : `.${fraction}`);
  // What is rounded to nothing has no sign.
  const sign = value < 0 && isMoreThanNothing(number) ? '−' : '';
  return `${sign}${unit.prefix}${number}${unit.suffix}`;
}

function signed(unit: Unit, value: number): string {
  const text = plain(unit, value);
  return value > 0 && isMoreThanNothing(text) ? `+${text}` : text;
}

/** A p-value, never shown as one that reaches a level which it does not. */
export function chance(p: number): string {
  if (p < 0.001) return '<0.001';
  return fixed(p < 0.05 ? Math.floor(p * 1000) / 1000 : p, 3);
}

/** A value in the unit of a difference. */
export const plainOf = (difference: Measured, value: number) => plain(unitOf(difference), value);

/** A value with its sign in the unit of a difference. */
export const signedOf = (difference: Measured, value: number) => signed(unitOf(difference), value);

/** The interval, its unit said once: `−0.12 to +0.02`. */
export function intervalOf(difference: Difference): string | undefined {
  if (difference.ci95 === null) return undefined;
  const unit = unitOf(difference);
  const number = { ...unit, prefix: '', suffix: '' };
  return `${signed(number, difference.ci95.low)} to ${signed(number, difference.ci95.high)}${unit.suffix}`;
}

/** The smallest detectable difference, or `none` where it is larger than scores and shares can differ. */
export function detectable(difference: Difference, none: string): string | undefined {
  const smallest = difference.smallestDetectable;
  if (smallest === null) return undefined;
  const isShare = difference.quantity === 'score' || difference.quantity === 'errors';
  return isShare && smallest > 1 ? none : plainOf(difference, smallest);
}

/** Whether more of a figure is better. */
export const isMoreBetter = (quantity: Difference['quantity']) => quantity === 'score';
