// A score from 0 to 1 with a bar.
import clsx from 'clsx';
import { formatScore } from '../lib/format';

interface ScoreProps {
  value: number | null | undefined;
  isBelowPassMark?: boolean;
}

export function Score({ value, isBelowPassMark = false }: ScoreProps) {
  if (value === undefined || value === null) {
    return (
      <span className="text-muted">
        <span aria-hidden="true">–</span>
        <span className="sr-only">no score</span>
      </span>
    );
  }
  return (
    <span
      className={clsx(
        'inline-flex items-center gap-2 tabular-nums',
        isBelowPassMark && 'font-medium text-warn',
      )}
    >
      {formatScore(value)}
      <span className="h-1.5 w-10 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
        <span
          className={clsx('block h-full rounded-full', isBelowPassMark ? 'bg-warn' : 'bg-accent')}
          style={{ width: `${100 * value}%` }}
        />
      </span>
      {isBelowPassMark && <span className="sr-only">, below pass mark</span>}
    </span>
  );
}
