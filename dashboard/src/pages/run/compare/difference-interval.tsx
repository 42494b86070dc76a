// The 95% CI of a difference, drawn on a scale around zero that all rows of a table share.
import type { Difference } from '../../../api/types';
import { formatSigned } from '../../../lib/format';
import { formatInterval, isHigherBetter } from './format';

/** The relevant difference, as in `cobalt`: absolute for scores and errors, relative to the reference for other metrics. */
const MARGINS = { share: 0.05, relative: 0.1 };

const isShare = (quantity: Difference['quantity']) => quantity === 'score' || quantity === 'errors';

/** The divisor of a difference: metrics are drawn relative to the mean of the reference. Undefined if that is 0. */
function divisor(difference: Difference): number | undefined {
  if (isShare(difference.quantity)) return 1;
  return difference.base === 0 ? undefined : Math.abs(difference.base);
}

/** The end of a scale that fits these differences. */
export function scaleLimit(differences: Difference[]): number {
  const farthest = differences.map((difference) => {
    const by = divisor(difference);
    if (by === undefined) return 0;
    const { low, high } = difference.ci95 ?? { low: difference.difference, high: difference.difference };
    return Math.max(Math.abs(low), Math.abs(high), Math.abs(difference.difference)) / by;
  });
  const margin = differences.every(({ quantity }) => isShare(quantity)) ? MARGINS.share : MARGINS.relative;
  return 1.1 * Math.max(2 * margin, ...farthest);
}

const COLOURS: Record<Difference['verdict'], string> = {
  better: 'var(--good)',
  worse: 'var(--bad)',
  changed: 'var(--text)',
  'within-noise': 'var(--muted)',
  inconclusive: 'var(--warn)',
};

const HEIGHT = 24;
const MIDDLE = HEIGHT / 2;
const CAP = 4;

export function DifferenceInterval({ difference, limit }: { difference: Difference; limit: number }) {
  const by = divisor(difference);
  if (by === undefined) return null;
  const x = (value: number) => `${(50 + (50 * value) / by / limit).toFixed(2)}%`;
  const margin = (isShare(difference.quantity) ? MARGINS.share : MARGINS.relative) * by;
  const colour = COLOURS[difference.verdict];
  const interval = formatInterval(difference);
  const label = interval === undefined ? 'no CI' : `95% CI ${interval}`;
  return (
    <svg width="100%" height={HEIGHT} role="img" aria-label={label} className="block overflow-visible">
      <rect
        x={x(-margin)}
        width={`${((100 * margin) / by / limit).toFixed(2)}%`}
        y="0"
        height={HEIGHT}
        fill="var(--sunken)"
      />
      <line x1="50%" x2="50%" y1="-6" y2={HEIGHT + 6} stroke="var(--muted)" strokeDasharray="2 2" />
      {difference.ci95 !== null && (
        <g stroke={colour} strokeWidth="2">
          <line x1={x(difference.ci95.low)} x2={x(difference.ci95.high)} y1={MIDDLE} y2={MIDDLE} />
          <line x1={x(difference.ci95.low)} x2={x(difference.ci95.low)} y1={MIDDLE - CAP} y2={MIDDLE + CAP} />
          <line
            x1={x(difference.ci95.high)}
            x2={x(difference.ci95.high)}
            y1={MIDDLE - CAP}
            y2={MIDDLE + CAP}
          />
        </g>
      )}
      <circle cx={x(difference.difference)} cy={MIDDLE} r="4" fill={colour} />
    </svg>
  );
}

/** The ends of the scale, and which side is better. */
export function Scale({ limit, quantity }: { limit: number; quantity: Difference['quantity'] }) {
  const end = (value: number) =>
    quantity === 'score' ? formatSigned(value, 2) : `${formatSigned(100 * value, 0)}%`;
  const [left, right] = isHigherBetter(quantity) ? ['worse', 'better'] : ['better', 'worse'];
  return (
    <span className="grid grid-cols-[1fr_auto_1fr] gap-x-2 whitespace-nowrap font-normal text-xs tabular-nums">
      <span>{end(-limit)}</span>
      <span>0</span>
      <span className="text-right">{end(limit)}</span>
      <span aria-hidden="true">← {left}</span>
      <span />
      <span aria-hidden="true" className="text-right">
        {right} →
      </span>
    </span>
  );
}
