// Points in time.
import { formatDateTime, timeAgo } from '../lib/format';
import { useNow } from '../lib/use-now';

/** A relative time, with the date and time in its tooltip. */
export function Time({ timestamp }: { timestamp: string }) {
  return (
    <time dateTime={timestamp} title={formatDateTime(timestamp)} className="whitespace-nowrap">
      {timeAgo(timestamp, useNow())}
    </time>
  );
}

/** The date and time, with the relative time in its tooltip. */
export function DateTime({ timestamp }: { timestamp: string }) {
  return (
    <time
      dateTime={timestamp}
      title={timeAgo(timestamp, useNow())}
      className="whitespace-nowrap tabular-nums"
    >
      {formatDateTime(timestamp)}
    </time>
  );
}
