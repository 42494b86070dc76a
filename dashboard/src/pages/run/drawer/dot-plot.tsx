// The scores of an item's runs as dots from 0 to 1.

interface DotPlotProps {
  /** One for each run that has a score. */
  scores: number[];
  mean: number;
  passMark: number | undefined;
}

const WIDTH = 160;
const HEIGHT = 22;
const MARGIN = 5;
const RADIUS = 3.5;
/** Dots nearer to each other than this share of the way are put at other heights. */
const OVERLAP = 0.04;

const x = (score: number) => MARGIN + score * (WIDTH - 2 * MARGIN);

/** The figures stand beside it as text, so it is hidden from those who do not see it. */
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
      {scores.map((score, run) => (
        <circle
          // biome-ignore lint/suspicious/noArrayIndexKey: a run is its place
          key={run}
          cx={x(score)}
          cy={HEIGHT / 2 + offset(scores, run)}
          r={RADIUS}
          fill={passMark !== undefined && score < passMark ? 'var(--bad)' : 'var(--accent)'}
          fillOpacity="0.65"
        />
      ))}
    </svg>
  );
}

/** How far a dot is moved so that those of earlier runs beside it are seen, too. */
function offset(scores: number[], run: number): number {
  const score = scores[run] ?? 0;
  const near = scores.slice(0, run).filter((other) => Math.abs(other - score) < OVERLAP).length;
  const step = Math.ceil(near / 2) * 3;
  return near % 2 === 0 ? step : -step;
}
