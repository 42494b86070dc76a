// The addresses of an item: its own page, and the table of its run. Both keep the filters.

/** URL parameters of the pane that belong to one item. */
const OF_ITEM = ['item', 'execution', 'span'];

function withoutItem(search: URLSearchParams): URLSearchParams {
  const kept = new URLSearchParams(search);
  for (const name of OF_ITEM) kept.delete(name);
  return kept;
}

const address = (path: string, search: URLSearchParams) => {
  const query = search.toString();
  return query === '' ? path : `${path}?${query}`;
};

const encode = encodeURIComponent;

/** The page of an item. */
export const itemPage = (run: string, key: string, search: URLSearchParams) =>
  address(`/runs/${encode(run)}/items/${encode(key)}`, withoutItem(search));

/** The table of the run. */
export function runPage(run: string, search: URLSearchParams): string {
  const kept = withoutItem(search);
  kept.delete('tab');
  return address(`/runs/${encode(run)}`, kept);
}

/** The table of the run with the item beside it. */
export function besideTable(run: string, key: string, search: URLSearchParams): string {
  const kept = withoutItem(search);
  kept.set('item', key);
  return address(`/runs/${encode(run)}`, kept);
}
