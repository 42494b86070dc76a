// Which runs are drawn and how, kept in the URL.
import { useUrlParameters } from '../../../lib/use-url-parameters';

const DAY = 86_400_000;

export const RANGES = [
  { value: '', name: 'Any time', days: undefined },
  { value: '7d', name: 'Last 7 days', days: 7 },
  { value: '30d', name: 'Last 30 days', days: 30 },
  { value: '90d', name: 'Last 90 days', days: 90 },
] as const;

export const LIMITS = [
  { value: '30', name: 'Latest 30 runs', limit: 30 },
  { value: '', name: 'Latest 100 runs', limit: 100 },
  { value: '300', name: 'Latest 300 runs', limit: 300 },
  { value: 'all', name: 'All runs', limit: undefined },
] as const;

/** The spacing of runs: even, or by time. */
export type Axis = 'runs' | 'time';

/** The date some days ago. It is constant during a day, so queries are not repeated. */
const since = (days: number) => new Date(Date.now() - days * DAY).toISOString().slice(0, 10);

/** Decodes a name from the URL, which may be malformed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The state of the page, and how to change it. */
export function useTrendsParameters() {
  const { get, set } = useUrlParameters();
  const days = RANGES.find((range) => range.value === get('range'))?.days;
  const hidden = get('hide') === '' ? [] : get('hide').split(',').map(decoded);
  return {
    evaluator: get('evaluator'),
    tag: get('tag'),
    range: get('range'),
    since: days === undefined ? undefined : since(days),
    runs: get('runs'),
    limit: (LIMITS.find((limit) => limit.value === get('runs')) ?? LIMITS[1]).limit,
    scatterX: get('x'),
    scatterY: get('y'),
    axis: (get('axis') === 'time' ? 'time' : 'runs') as Axis,
    hidden,
    toggle: (name: string) => {
      const others = hidden.filter((one) => one !== name);
      const after = others.length === hidden.length ? [...hidden, name] : others;
      set({ hide: after.map(encodeURIComponent).join(',') });
    },
    set,
  };
}

export type TrendsParameters = ReturnType<typeof useTrendsParameters>;
