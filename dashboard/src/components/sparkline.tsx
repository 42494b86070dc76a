// A small line of scores over the latest runs, on a scale that does not exaggerate noise.
import { escapeHidden } from '../lib/texts';

/** A score, and its 95% CI if it is known. */
export interface SparkPoint {
  score: number;
  low?: number | null;
  high?: number | null;
}

interface SparklineProps {
  /** Oldest first; null if a run has no score. */
  points: (SparkPoint | null)[];
  /** What the line shows. */
  label: string;
  /** Whether the range of the scale is written beside the line; else it is in the label and the tooltip. */
  hasScale?: boolean;
  width?: number;
  height?: number;
}

/** A part of the scale from 0 to 1. */
interface Scale {
  low: number;
  high: number;
}

const WHOLE: Scale = { low: 0, high: 1 };

/** The scale is this many times as high as a CI: a change within it then hardly moves the line. */
const INTERVALS_IN_SCALE = 4;

/** The smallest scale that is drawn. */
const MIN_SPAN = 0.2;

/**
 * From 0 to 1, or a narrower range in tenths that holds every CI. It is never so narrow that a change within a CI looks like a drop.
 * Without CIs nothing is known about the noise: the scale is then the whole range.
 */
export function sparkScale(points: (SparkPoint | null)[]): Scale {
  const known = points.filter((point) => point !== null);
  const bounded = known.filter((point) => typeof point.low === 'number' && typeof point.high === 'number');
  if (known.length === 0 || bounded.length < known.length) return WHOLE;
  const lows = bounded.map(({ low, score }) => Math.min(low ?? score, score));
  const highs = bounded.map(({ high, score }) => Math.max(high ?? score, score));
  const [low, high] = [Math.min(...lows), Math.max(...highs)];
  const widest = Math.max(...bounded.map((point) => (point.high ?? 0) - (point.low ?? 0)));
  const span = Math.max(high - low, INTERVALS_IN_SCALE * widest, MIN_SPAN);
  if (span >= 1) return WHOLE;
  // Centred, and moved into the range of scores.
  const start = Math.max(0, Math.min((low + high - span) / 2, 1 - span));
  return { low: tenths(start, Math.floor), high: tenths(start + span, Math.ceil) };
}

/** The next tenth; not that beyond a tenth with a rounding error. */
const tenths = (value: number, round: (value: number) => number) =>
  Math.min(1, Math.max(0, round(Number((10 * value).toFixed(6))) / 10));

const MARGIN = 3;

export function Sparkline({ points, label, hasScale = false, width = 64, height = 20 }: SparklineProps) {
  const scale = sparkScale(points);
  const x = (index: number) => MARGIN + (index / Math.max(points.length - 1, 1)) * (width - 2 * MARGIN);
  const y = (value: number) =>
    height - MARGIN - ((value - scale.low) / (scale.high - scale.low)) * (height - 2 * MARGIN);
  const places = points.flatMap((point, index) => (point === null ? [] : [{ ...point, x: x(index) }]));
  const last = places.at(-1);
  if (last === undefined || places.length < 2) return null;
  const text = `${escapeHidden(label)}, on a scale from ${scale.low} to ${scale.high}`;
  const at = (places: { x: number; value: number }[]) =>
    places.map(({ x, value }) => `${x.toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const upper = places.map(({ x, score, high }) => ({ x, value: high ?? score }));
  const lower = places.map(({ x, score, low }) => ({ x, value: low ?? score })).reverse();
  return (
    <span className="inline-flex items-stretch gap-1">
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={text}>
        <title>{text}</title>
        <rect width={width} height={height} rx="3" fill="var(--sunken)" opacity="0.6" />
        <polygon points={at([...upper, ...lower])} fill="var(--accent)" opacity="0.2" />
        <polyline
          points={at(places.map(({ x, score }) => ({ x, value: score })))}
          fill="none"
          stroke="var(--accent)"
          strokeWidth="1.5"
          strokeLinejoin="round"
        />
        <circle cx={last.x} cy={y(last.score)} r="2.25" fill="var(--accent)" />
      </svg>
      {hasScale && (
        <span
          aria-hidden="true"
          className="flex flex-col justify-between text-[0.6875rem] text-muted leading-none tabular-nums"
        >
          <span>{scale.high}</span>
          <span>{scale.low}</span>
        </span>
      )}
    </span>
  );
}
