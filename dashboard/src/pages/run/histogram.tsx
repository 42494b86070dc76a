// The distribution of the items' mean scores from 0 to 1. Each bar links to its items.
import clsx from 'clsx';
import { pluralize } from '../../lib/format';

export interface ScoreRange {
  low: number;
  high: number;
}

interface HistogramProps {
  /** The name of the evaluator. */
  name: string;
  /** The number of items per bin; all bins have the same width. */
  bins: number[];
  passMark?: number | undefined;
  onRange: (range: ScoreRange) => void;
}

const HEIGHT = 36;
/** The minimum height of a non-empty bar: it must be visible and clickable. */
const MIN_BAR_HEIGHT = 3;

export function Histogram({ name, bins, passMark, onRange }: HistogramProps) {
  const most = Math.max(...bins, 1);
  return (
    <ul
      aria-label={`Distribution of ${name}`}
      className="flex items-end border-line border-b"
      style={{ height: HEIGHT }}
    >
      {bins.map((items, bin) => {
        const range = { low: bin / bins.length, high: (bin + 1) / bins.length };
        // The last bin includes 1, which reaches every pass mark.
        const isLast = bin === bins.length - 1;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: bins are identified by their index
          <li key={bin} className="flex h-full flex-1 items-end">
            {items > 0 && (
              <Bar
                items={items}
                range={range}
                height={Math.max(MIN_BAR_HEIGHT, (items / most) * HEIGHT)}
                isBelowPassMark={passMark !== undefined && !isLast && range.high <= passMark + Number.EPSILON}
                onClick={() => onRange(range)}
              />
            )}
          </li>
        );
      })}
    </ul>
  );
}

interface BarProps {
  items: number;
  range: ScoreRange;
  height: number;
  isBelowPassMark: boolean;
  onClick: () => void;
}

function Bar({ items, range, height, isBelowPassMark, onClick }: BarProps) {
  const bounds = `${range.low.toFixed(2)} to ${range.high.toFixed(2)}`;
  return (
    <button
      type="button"
      title={`${bounds}: ${pluralize(items, 'item')}`}
      aria-label={`${pluralize(items, 'item')} from ${bounds}${isBelowPassMark ? ', below pass mark' : ''}: show items`}
      onClick={onClick}
      className="group flex h-full w-full items-end px-px"
    >
      <span
        className={clsx(
          'block w-full rounded-t-xs group-hover:brightness-90',
          isBelowPassMark ? 'bg-bad/70' : 'bg-accent/70',
        )}
        style={{ height }}
      />
    </button>
  );
}
