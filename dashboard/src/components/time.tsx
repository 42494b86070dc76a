// A moment, as long ago as it is; its date when pointed at.
import { formatDateTime, timeAgo } from '../lib/format';
import { useNow } from '../lib/use-now';

export function Time({ timestamp: of }: { timestamp: string }) {
  return (
    <time dateTime={of} title={formatDateTime(of)} className="whitespace-nowrap">
      {timeAgo(of, useNow())}
    </time>
  );
}
