// The point of a run: a circle if it passed, a diamond if it failed, a triangle if it had errors.
import type { RunVerdict } from '../../../api/types';

interface PointShapeProps {
  verdict: RunVerdict;
  x: number;
  y: number;
  colour: string;
}

export function PointShape({ verdict, x, y, colour }: PointShapeProps) {
  const at = (offsets: [number, number][]) =>
    offsets.map(([right, down]) => `${x + right},${y + down}`).join(' ');
  switch (verdict) {
    case 'failed':
      return (
        <polygon
          points={at([
            [0, -5.5],
            [5.5, 0],
            [0, 5.5],
            [-5.5, 0],
          ])}
          fill="var(--bad)"
          stroke={colour}
          strokeWidth="1.5"
        />
      );
    case 'error':
      return (
        <polygon
          points={at([
            [0, -5.5],
            [5, 4],
            [-5, 4],
          ])}
          fill="var(--bad)"
          stroke={colour}
          strokeWidth="1.5"
        />
      );
    case 'passed':
    case 'partial':
      return <circle cx={x} cy={y} r="3" fill="var(--surface)" stroke={colour} strokeWidth="1.5" />;
  }
}
