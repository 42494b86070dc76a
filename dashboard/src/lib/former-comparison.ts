// The former address of comparisons.
import { comparisonOf } from './addresses';

/** The run parameters of the former address of comparisons, the reference first. */
const FORMER_SIDES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** Its other parameters that still have a meaning. */
const KEPT = ['item', 'search', 'only'];

/** Where `/compare?a=A&b=B` leads to; the start page without a run. */
export function redirectCompare(former: URLSearchParams): string {
  const ids = FORMER_SIDES.map((side) => former.get(side) ?? '').filter((id) => id !== '');
  if (ids.length === 0) return '/';
  const address = comparisonOf(ids);
  const kept = new URLSearchParams();
  for (const name of KEPT) {
    const value = former.get(name);
    if (value !== null && value !== '' && value !== 'all') kept.set(name, value);
  }
  return kept.size === 0 ? address : `${address}${ids.length > 1 ? '&' : '?'}${kept}`;
}
