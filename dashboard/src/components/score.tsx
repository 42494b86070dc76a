// A score from 0 to 1, with a bar as long as it is high.
import clsx from 'clsx';
import { score } from '../lib/format';

interface ScoreProps {
  /** Undefined where there is none. */
  value: number | null | undefined;
  /** Whether it is below its mark. */
  isLow?: boolean;
}

export function Score({ value, isLow = false }: ScoreProps) {
  if (value === undefined || value === null) {
    return (
      <span className="text-muted">
        <span aria-hidden="true">–</span>
        <span className="sr-only">no score</span>
      </span>
    );
  }
  return (
    <span className={clsx('inline-flex items-center gap-2 tabular-nums', isLow && 'font-medium text-bad')}>
      {score(value)}
      <span className="h-1.5 w-10 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
        <span
          className={clsx('block h-full rounded-full', isLow ? 'bg-bad' : 'bg-accent')}
          style={{ width: `${100 * value}%` }}
        />
      </span>
      {isLow && <span className="sr-only">, low</span>}
    </span>
  );
}
