// The distribution of the items' mean scores from 0 to 1, as a small chart. A bar shows its items.
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import clsx from 'clsx';
import { pluralize } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import type { ScoreRange } from './items/filter';

interface DistributionProps {
  /** The name of the evaluator. */
  name: string;
  /** The number of items per bin; all bins have the same width. */
  bins: number[];
  passMark?: number | undefined;
  /** In pixels. */
  height: number;
  /** Whether only the items of a bin are shown. */
  isShown: (range: ScoreRange) => boolean;
  onRange: (range: ScoreRange) => void;
}

/** The minimum height of a non-empty bar: it must be visible and clickable. */
const MIN_BAR_HEIGHT = 3;

/** One Tab stop; the arrow keys move between the bars. */
export function Distribution({ name, bins, passMark, height, isShown, onRange }: DistributionProps) {
  const most = Math.max(...bins, 1);
  const ranges = bins.map((_, bin) => ({ low: bin / bins.length, high: (bin + 1) / bins.length }));
  const shown = ranges.findIndex(isShown);
  return (
    <ToggleGroup
      aria-label={`Distribution of ${escapeHidden(name)}`}
      value={shown < 0 ? [] : [String(shown)]}
      className="flex w-full items-end border-line border-b"
      style={{ height }}
    >
      {ranges.map((range, bin) => {
        const items = bins[bin] ?? 0;
        // The last bin includes 1, which reaches every pass mark.
        const isLast = bin === bins.length - 1;
        const isBelow = passMark !== undefined && !isLast && range.high <= passMark + Number.EPSILON;
        const bounds = `${range.low.toFixed(2)} to ${range.high.toFixed(2)}`;
        if (items === 0) return <span key={range.low} className="flex-1" />;
        return (
          <Toggle
            key={range.low}
            value={String(bin)}
            title={`${bounds}: ${pluralize(items, 'item')}`}
            aria-label={`${pluralize(items, 'item')} from ${bounds}${isBelow ? ', below pass mark' : ''}: show items`}
            onPressedChange={() => onRange(range)}
            className="group/bar flex h-full min-w-0 flex-1 items-end px-px"
          >
            <span
              className={clsx(
                'block w-full rounded-t-xs group-hover/bar:brightness-75 group-data-pressed/bar:opacity-100',
                isBelow ? 'bg-warn' : 'bg-accent',
                shown < 0 ? 'opacity-70' : 'opacity-30',
              )}
              style={{ height: Math.max(MIN_BAR_HEIGHT, (items / most) * height) }}
            />
          </Toggle>
        );
      })}
    </ToggleGroup>
  );
}

/** Half as many bins, which are wider, unless that would hide on which side of the pass mark items are. */
export function widerBins(bins: number[], passMark: number | undefined): number[] {
  const half = bins.length / 2;
  const edge = (passMark ?? 0) * half;
  if (!Number.isInteger(half) || Math.abs(edge - Math.round(edge)) > 1e-9) return bins;
  return Array.from({ length: half }, (_, bin) => (bins[2 * bin] ?? 0) + (bins[2 * bin + 1] ?? 0));
}
