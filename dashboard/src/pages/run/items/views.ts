// Named views of the items of an experiment: filters, order, groups and layout. Kept in the browser.
import { useCallback, useSyncExternalStore } from 'react';
import { OF_ITEM } from '../../../lib/item-addresses';

export interface View {
  name: string;
  /** URL parameters without the `?`. */
  query: string;
}

/** The parameters that stay when a view is opened. The open item may not be in it. */
const KEPT = ['compare', 'only', 'details'];

/** The URL parameters that belong to one run or item. */
const NOT_IN_VIEWS = [...OF_ITEM, 'tab', ...KEPT];

/** The part of the URL that a view keeps. */
export function viewQuery(search: URLSearchParams): string {
  const kept = new URLSearchParams(search);
  for (const name of NOT_IN_VIEWS) kept.delete(name);
  // The same view, in whatever order its parameters were set.
  kept.sort();
  return kept.toString();
}

/** The URL parameters that show a view. An open comparison stays open. */
export function withView(search: URLSearchParams, query: string): string {
  const shown = new URLSearchParams(query);
  for (const name of KEPT) {
    const value = search.get(name);
    if (value !== null) shown.set(name, value);
  }
  return shown.toString();
}

const keyOf = (experiment: string) => `views:${experiment}`;

const CHANGED = 'cobalt-views';

function parseViews(text: string | null): View[] {
  try {
    const views: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(views) ? views.filter(isView) : [];
  } catch {
    return [];
  }
}

const isView = (value: unknown): value is View =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'query' in value &&
  typeof value.query === 'string';

function subscribe(listener: () => void) {
  // `storage` events come from other tabs only.
  window.addEventListener('storage', listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener('storage', listener);
    window.removeEventListener(CHANGED, listener);
  };
}

/** The saved views of an experiment, and the functions that change them. */
export function useViews(experiment: string) {
  const key = keyOf(experiment);
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(key));
  const views = parseViews(text);
  const write = useCallback(
    (change: (views: View[]) => View[]) => {
      localStorage.setItem(key, JSON.stringify(change(parseViews(localStorage.getItem(key)))));
      window.dispatchEvent(new Event(CHANGED));
    },
    [key],
  );
  /** Replaces a view of the same name. */
  const save = (view: View) => write((views) => [...views.filter(({ name }) => name !== view.name), view]);
  const remove = (name: string) => write((views) => views.filter((view) => view.name !== name));
  const rename = (name: string, to: string) =>
    write((views) =>
      views
        .filter((view) => view.name === name || view.name !== to)
        .map((view) => (view.name === name ? { ...view, name: to } : view)),
    );
  return { views, save, remove, rename };
}
