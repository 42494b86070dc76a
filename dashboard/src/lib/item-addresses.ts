// The addresses of an item: its own page, and the table of its run. Both keep the filters.
import { runUrl } from './addresses';
import type { UrlChanges } from './use-url-parameters';

/** URL parameters of the pane that belong to one item. */
export const OF_ITEM = ['item', 'execution', 'span'];

/** URL parameters without an item. */
export const NO_ITEM: UrlChanges = Object.fromEntries(OF_ITEM.map((name) => [name, undefined]));

/** The URL parameters without those of an item. */
export function withoutItem(search: URLSearchParams): URLSearchParams {
  const kept = new URLSearchParams(search);
  for (const name of OF_ITEM) kept.delete(name);
  return kept;
}

const address = (path: string, search: URLSearchParams) => {
  const query = search.toString();
  return query === '' ? path : `${path}?${query}`;
};

/** The page of an item; without `search`, without filters. */
export const itemPage = (run: string, key: string, search = new URLSearchParams()) =>
  address(`${runUrl(run)}/items/${encodeURIComponent(key)}`, withoutItem(search));

/** The table of the run. */
export function runPage(run: string, search: URLSearchParams): string {
  const kept = withoutItem(search);
  kept.delete('tab');
  return address(runUrl(run), kept);
}

/** The table of the run with the item beside it; without `search`, without filters. */
export function besideTable(run: string, key: string, search = new URLSearchParams()): string {
  const kept = withoutItem(search);
  kept.set('item', key);
  return address(runUrl(run), kept);
}
