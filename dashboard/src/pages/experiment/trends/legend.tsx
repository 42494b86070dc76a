// The legend of a chart: lines that can be hidden, thresholds, and point shapes.
import clsx from 'clsx';
import type { ThresholdLine } from '../../../api/types';
import { Text } from '../../../components/text';
import { PointShape } from './point-shape';
import type { Series } from './series';

interface LegendProps {
  series: Series[];
  hidden: string[];
  onToggle: (name: string) => void;
  thresholds: ThresholdLine[];
}

export function Legend({ series, hidden, onToggle, thresholds }: LegendProps) {
  return (
    <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs">
      <ul aria-label="Legend" className="flex flex-wrap gap-x-1 gap-y-1">
        {series.map(({ name, colour, dash }) => {
          const isHidden = hidden.includes(name);
          return (
            <li key={name}>
              <button
                type="button"
                aria-pressed={!isHidden}
                onClick={() => onToggle(name)}
                className="flex min-h-6 items-center gap-1.5 rounded px-1.5 hover:bg-sunken"
              >
                <LineSample colour={isHidden ? 'var(--muted)' : colour} dash={dash} />
                <span className={clsx('[overflow-wrap:anywhere]', isHidden && 'text-muted line-through')}>
                  <Text>{name}</Text>
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      <Thresholds thresholds={thresholds} />
      <p className="flex items-center gap-3 text-muted sm:ml-auto">
        <VerdictKey verdict="failed" name="failed" />
        <VerdictKey verdict="error" name="error" />
      </p>
    </div>
  );
}

/** The names of the lines. */
export function LineNames({ series }: { series: Series[] }) {
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs">
      {series.map(({ name, colour, dash }) => (
        <li key={name} className="flex items-center gap-1.5">
          <LineSample colour={colour} dash={dash} />
          {name}
        </li>
      ))}
    </ul>
  );
}

/** The thresholds in the chart. */
export function Thresholds({ thresholds }: { thresholds: ThresholdLine[] }) {
  if (thresholds.length === 0) return null;
  return (
    <ul aria-label="Thresholds" className="flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs">
      {thresholds.map(({ name }) => (
        <li key={name} className="flex items-center gap-1.5">
          <LineSample colour="var(--bad)" dash="4 4" />
          <code className="font-mono">
            <Text>{name}</Text>
          </code>
        </li>
      ))}
    </ul>
  );
}

function LineSample({ colour, dash }: { colour: string; dash: string | undefined }) {
  return (
    <svg width="18" height="8" aria-hidden="true" className="shrink-0">
      <line x1="0" x2="18" y1="4" y2="4" stroke={colour} strokeWidth="2" strokeDasharray={dash} />
    </svg>
  );
}

function VerdictKey({ verdict, name }: { verdict: 'failed' | 'error'; name: string }) {
  return (
    <span className="flex items-center gap-1">
      <svg width="12" height="12" aria-hidden="true">
        <PointShape verdict={verdict} x={6} y={6} colour="var(--muted)" />
      </svg>
      {name}
    </span>
  );
}
