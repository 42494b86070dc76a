// A relative time, with the date in its tooltip.
import { formatDateTime, timeAgo } from '../lib/format';
import { useNow } from '../lib/use-now';

export function Time({ timestamp }: { timestamp: string }) {
  return (
    <time dateTime={timestamp} title={formatDateTime(timestamp)} className="whitespace-nowrap">
      {timeAgo(timestamp, useNow())}
    </time>
  );
}
