// The scores of an item's trials as dots from 0 to 1.

interface DotPlotProps {
  /** One for each trial with a score. */
  scores: number[];
  mean: number;
  passMark: number | undefined;
}

const WIDTH = 160;
const HEIGHT = 22;
const MARGIN = 5;
const RADIUS = 3.5;
/** Dots closer than this are offset vertically. */
const OVERLAP = 0.04;

const x = (score: number) => MARGIN + score * (WIDTH - 2 * MARGIN);

/** Hidden from screen readers: the values are in the text next to it. */
export function DotPlot({ scores, mean, passMark }: DotPlotProps) {
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <line x1={x(0)} x2={x(1)} y1={HEIGHT / 2} y2={HEIGHT / 2} stroke="var(--line)" strokeWidth="2" />
      {passMark !== undefined && (
        <line
          x1={x(passMark)}
          x2={x(passMark)}
          y1="2"
          y2={HEIGHT - 2}
          stroke="var(--muted)"
          strokeDasharray="2 2"
        />
      )}
      <line x1={x(mean)} x2={x(mean)} y1="3" y2={HEIGHT - 3} stroke="var(--text)" strokeWidth="1.5" />
      {scores.map((score, trial) => (
        <circle
          // biome-ignore lint/suspicious/noArrayIndexKey: trials are identified by their index
          key={trial}
          cx={x(score)}
          cy={HEIGHT / 2 + offset(scores, trial)}
          r={RADIUS}
          fill={passMark !== undefined && score < passMark ? 'var(--warn)' : 'var(--accent)'}
          fillOpacity="0.65"
        />
      ))}
    </svg>
  );
}

/** The vertical offset of a dot, to keep overlapping dots of earlier trials visible. */
function offset(scores: number[], trial: number): number {
  const score = scores[trial] ?? 0;
  const near = scores.slice(0, trial).filter((other) => Math.abs(other - score) < OVERLAP).length;
  const step = Math.ceil(near / 2) * 3;
  return near % 2 === 0 ? step : -step;
}
