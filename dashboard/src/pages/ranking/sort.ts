// The order of the matrix, kept in the URL.
import type { MatrixQuery, Ranking } from '../../api/types';
import { escapeHidden } from '../../lib/texts';

export interface MatrixSort {
  /** `index`, `key`, `spread`, or the id of a run. */
  key: string;
  order: NonNullable<MatrixQuery['order']>;
}

export const INDEX: MatrixSort = { key: 'index', order: 'asc' };

/** Parses URL parameters; unknown ones mean the order of the dataset. */
export function parseSort(key: string, order: string, runs: string[]): MatrixSort {
  if (key !== 'key' && key !== 'spread' && !runs.includes(key)) return INDEX;
  if (order === 'asc' || order === 'desc') return { key, order };
  return { key, order: key === 'spread' ? 'desc' : 'asc' };
}

/** The choices, as values like `key asc`; with the current one. */
export function sortOptions({ runs }: Ranking, { key, order }: MatrixSort) {
  const options = [
    { value: 'index asc', name: 'Dataset order' },
    { value: 'spread desc', name: 'Largest spread of scores first' },
    { value: 'key asc', name: 'Item, A to Z' },
    ...runs.map(({ run, label }) => ({
      value: `${run.id} asc`,
      name: `Lowest score of ${escapeHidden(label)} first`,
    })),
  ];
  if (options.some(({ value }) => value === `${key} ${order}`)) return options;
  const label = runs.find(({ run }) => run.id === key)?.label;
  const reversed = { spread: 'Smallest spread of scores first', key: 'Item, Z to A' }[key];
  const name = reversed ?? `Highest score of ${escapeHidden(label ?? '')} first`;
  return [...options, { value: `${key} ${order}`, name }];
}

/** The URL parameters of a choice. */
export function sortParameters(value: string): Record<string, string> {
  const [key = '', order = ''] = value.split(' ');
  if (key === '' || key === INDEX.key) return { sort: '', order: '' };
  const usual = key === 'spread' ? 'desc' : 'asc';
  return { sort: key, order: order === usual ? '' : order };
}
