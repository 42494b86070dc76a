// A small line chart of a metric over the latest runs.

interface SparklineProps {
  /** Oldest first; null if a run has no value. */
  values: (number | null)[];
  /** The accessible name. */
  label: string;
}

const WIDTH = 64;
const HEIGHT = 18;
const MARGIN = 2.5;

/** The position of each known value; the lowest is at the bottom, the highest at the top. */
function points(values: (number | null)[]): [number, number][] {
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  const x = (index: number) => MARGIN + (index / Math.max(values.length - 1, 1)) * (WIDTH - 2 * MARGIN);
  const y = (value: number) => {
    const height = span === 0 ? 0.5 : (value - low) / span;
    return HEIGHT - MARGIN - height * (HEIGHT - 2 * MARGIN);
  };
  return values.flatMap((value, index): [number, number][] => (value === null ? [] : [[x(index), y(value)]]));
}

export function Sparkline({ values, label }: SparklineProps) {
  const places = points(values);
  const last = places.at(-1);
  if (last === undefined || places.length < 2) return null;
  const line = places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <polyline points={line} fill="none" stroke="var(--accent)" strokeWidth="1.5" strokeLinejoin="round" />
      <circle cx={last[0]} cy={last[1]} r="2" fill="var(--accent)" />
    </svg>
  );
}
