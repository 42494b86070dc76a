// Formats numbers and times. The result does not depend on the browser's language.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Enough extra digits to distinguish a tie from a value close to one. */
const EXTRA_DIGITS = 40;

/** Formats a non-negative number with fixed decimals. Rounds ties to even, as the terminal does; `toFixed` rounds them up. */
export function formatFixed(value: number, decimals: number): string {
  const exact = value.toFixed(decimals + EXTRA_DIGITS);
  const below = exact.slice(0, -EXTRA_DIGITS).replace(/\.$/, '');
  const isTie = /^50*$/.test(exact.slice(-EXTRA_DIGITS));
  return isTie && /[02468]$/.test(below) ? below : value.toFixed(decimals);
}

/** A score with three decimals: `0.918`. */
export const formatScore = (value: number) => formatFixed(value, 3);

/** A signed difference: `+0.042`, `−0.100`. */
export function formatSigned(value: number, digits = 3): string {
  const text = formatFixed(Math.abs(value), digits);
  if (Number(text) === 0) return text;
  return value < 0 ? `−${text}` : `+${text}`;
}

/** A share from 0 to 1 with at most one decimal: `95%`, `66.7%`. More decimals show that it is not 0% or 100%. */
export function formatPercent(share: number): string {
  for (let decimals = 1; decimals < 6; decimals += 1) {
    const number = Number(formatFixed(100 * share, decimals));
    if ((number !== 0 || share <= 0) && (number !== 100 || share >= 1)) return `${number}%`;
  }
  return `${100 * share}%`;
}

/** A number of any size: at most three decimals, or two significant digits if it is small. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (value === 0 || (size >= 0.01 && size < 1e15))
    return value.toLocaleString('en-US', { maximumFractionDigits: 3 }).replace(/^-0$/, '0');
  if (size >= 1e-6 && size < 0.01) return Number(value.toPrecision(2)).toString();
  return value.toExponential().replace('e+', 'e');
}

/** A number with its unit: `7.5 documents`, `12.5%`. */
export function formatWithUnit(value: number, unit: string | null | undefined): string {
  if (unit == null || unit === '') return formatNumber(value);
  return unit === '%' ? `${formatNumber(value)}%` : `${formatNumber(value)} ${unit}`;
}

/** A count: `12,345`. */
export const formatCount = (value: number) => Math.round(value).toLocaleString('en-US');

/** A count and its noun: `1 item`, `12 items`. */
export const pluralize = (value: number, noun: string) =>
  `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`;

/** A duration given in milliseconds: `28 µs`, `4.2 ms`, `310 ms`, `1.84 s`, `4 m 12 s`, `2 h 5 m`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0 ms';
  // The limits are those of the rounded value: 999.6 ms is `1.00 s`.
  if (ms < 0.9995) return `${Math.round(ms * 1000)} µs`;
  if (ms < 999.5) return `${ms < 9.95 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  const minutes = Math.round(ms / MINUTE);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

/** The decimals that show cents, and at least two significant digits, as in the terminal. */
function costDecimals(usd: number): number {
  return usd === 0 ? 2 : Math.min(14, Math.max(2, 1 - Math.floor(Math.log10(Math.abs(usd)))));
}

/** US dollars: `$0.0015`, `$1.25`. */
export const formatCost = (usd: number) => formatDollars(usd, costDecimals(usd));

const formatDollars = (usd: number, decimals: number) =>
  `$${usd.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })}`;

/** More decimals than these do not help to compare costs. */
const MAX_COST_DECIMALS = 6;

/** Formats costs that are shown beside each other with the same decimals: `$0.0015` and `$0.1380`. */
export function costFormat(costs: (number | null | undefined)[]): (usd: number) => string {
  const known = costs.filter((cost) => typeof cost === 'number');
  const decimals = Math.min(MAX_COST_DECIMALS, Math.max(2, ...known.map(costDecimals)));
  return (usd) => {
    const own = costDecimals(usd);
    return formatDollars(usd, own > MAX_COST_DECIMALS ? own : Math.max(own, decimals));
  };
}

/** The age: `just now`, `5 min ago`, `3 h ago`, `2 d ago`; from 7 days on, the date and time. */
export function timeAgo(timestamp: string, now = Date.now()): string {
  const age = now - Date.parse(timestamp);
  if (age < MINUTE) return 'just now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h ago`;
  if (age < 7 * DAY) return `${Math.floor(age / DAY)} d ago`;
  return formatDateTime(timestamp);
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** The date in the browser's time zone: `2026-02-05`. */
export function formatDate(timestamp: string): string {
  const time = new Date(timestamp);
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`;
}

/** The start or end, in UTC, of a day in the browser's time zone. Returns an invalid date unchanged. */
export function dayBoundary(day: string, edge: 'start' | 'end'): string {
  const time = new Date(`${day}T${edge === 'start' ? '00:00:00.000' : '23:59:59.999'}`);
  return Number.isNaN(time.getTime()) ? day : time.toISOString();
}

/** The date and time in the browser's time zone: `2026-02-05 14:30`. */
export function formatDateTime(timestamp: string): string {
  const time = new Date(timestamp);
  return `${formatDate(timestamp)} ${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
}

/** A shortened commit hash. */
export const shortCommit = (hash: string) => hash.slice(0, 7);

/** A size in bytes: `512 B`, `12 kB`, `3.4 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [size, unit] = [bytes, 0];
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit > 0 && size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
