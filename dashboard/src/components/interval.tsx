// A mean on a scale from 0 to 1, with its CI and the pass mark.
import type { Interval as Bounds } from '../api/types';

interface IntervalProps {
  ci95: Bounds | undefined;
  mean: number;
  passMark?: number | undefined;
}

const percentage = (value: number) => `${100 * Math.min(Math.max(value, 0), 1)}%`;

/** Hidden from screen readers: the values are in the text next to it. */
export function Interval({ ci95, mean, passMark }: IntervalProps) {
  return (
    <div className="relative h-2.5" aria-hidden="true">
      <div className="absolute inset-x-0 top-1 h-0.5 rounded-full bg-line" />
      {ci95 && (
        <div
          className="absolute top-0.5 h-1.5 rounded-full bg-accent/35"
          style={{ left: percentage(ci95.low), width: percentage(ci95.high - ci95.low) }}
        />
      )}
      {passMark !== undefined && (
        <div className="absolute inset-y-0 w-px bg-muted" style={{ left: percentage(passMark) }} />
      )}
      <div
        className="absolute top-0 size-2.5 -translate-x-1/2 rounded-full border-2 border-surface bg-accent"
        style={{ left: percentage(mean) }}
      />
    </div>
  );
}
