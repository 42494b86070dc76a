// Figures and times as people read them; the same everywhere, whatever the language of the browser.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Enough digits to tell a tie from what is merely close to one. */
const TELLING = 40;

/** A number of 0 or more with so many decimals, rounded as in the terminal: of a tie to the even digit, where `toFixed` rounds up. */
export function fixed(value: number, decimals: number): string {
  const exact = value.toFixed(decimals + TELLING);
  const below = exact.slice(0, -TELLING).replace(/\.$/, '');
  const isTie = /^50*$/.test(exact.slice(-TELLING));
  return isTie && /[02468]$/.test(below) ? below : value.toFixed(decimals);
}

/** A score, with three digits as in the terminal: `0.918`. */
export const score = (value: number) => fixed(value, 3);

/** A difference with its sign: `+0.042`, `−0.100`. */
export function signed(value: number, digits = 3): string {
  const text = fixed(Math.abs(value), digits);
  if (Number(text) === 0) return text;
  return value < 0 ? `−${text}` : `+${text}`;
}

/** A share from 0 to 1: `95.0 %`. */
export const percent = (share: number, digits = 1) => `${fixed(100 * share, digits)} %`;

/** A count: `12,345`. */
export const count = (value: number) => Math.round(value).toLocaleString('en-US');

/** A count with its noun: `1 item`, `12 items`. */
export const counted = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** A time span in milliseconds: `28 µs`, `4.2 ms`, `310 ms`, `1.84 s`, `4 m 12 s`, `2 h 5 m`. */
export function duration(ms: number): string {
  if (ms === 0) return '0 ms';
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ${Math.floor((ms % MINUTE) / 1000)} s`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} m`;
}

/** US dollars: `$0.0021`, `$1.25`. */
export function cost(usd: number): string {
  if (usd === 0) return '$0.00';
  if (usd < 0.01) return `$${Number(usd.toPrecision(2))}`;
  return `$${usd.toFixed(usd < 1 ? 3 : 2)}`;
}

/** How long ago it was: `just now`, `5 min ago`, `3 h ago`, `2 d ago`; older, the date. */
export function ago(timestamp: string, now = Date.now()): string {
  const age = now - Date.parse(timestamp);
  if (age < MINUTE) return 'just now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h ago`;
  if (age < 7 * DAY) return `${Math.floor(age / DAY)} d ago`;
  return date(timestamp);
}

const two = (value: number) => String(value).padStart(2, '0');

/** The day where the browser is: `2026-02-05`. */
function date(timestamp: string): string {
  const time = new Date(timestamp);
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** When a day begins, or ends, where the browser is, in UTC; what is no day stays as it is. */
export function edgeOfDay(day: string, edge: 'start' | 'end'): string {
  const time = new Date(`${day}T${edge === 'start' ? '00:00:00.000' : '23:59:59.999'}`);
  return Number.isNaN(time.getTime()) ? day : time.toISOString();
}

/** The moment where the browser is: `2026-02-05 14:30`. */
export function moment(timestamp: string): string {
  const time = new Date(timestamp);
  return `${date(timestamp)} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** A commit, shortened. */
export const commit = (hash: string) => hash.slice(0, 7);
