// A moment, as long ago as it is; its date when pointed at.
import { ago, moment } from '../lib/format';
import { useNow } from '../lib/use-now';

export function Time({ of }: { of: string }) {
  return (
    <time dateTime={of} title={moment(of)} className="whitespace-nowrap">
      {ago(of, useNow())}
    </time>
  );
}
