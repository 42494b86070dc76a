// How the items' mean scores by an evaluator are spread over 0 to 1. Each bar leads to its items.
import clsx from 'clsx';
import { pluralize } from '../../lib/format';

export interface ScoreRange {
  low: number;
  high: number;
}

interface HistogramProps {
  /** The evaluator. */
  name: string;
  /** How many items have their mean score in each of the equal parts. */
  bins: number[];
  /** The score from which an output passes. */
  passMark?: number | undefined;
  onRange: (range: ScoreRange) => void;
}

const HEIGHT = 36;
/** The least height of a bar that is not empty, so that it is seen, and can be hit. */
const MIN_BAR_HEIGHT = 3;

export function Histogram({ name, bins, passMark, onRange }: HistogramProps) {
  const most = Math.max(...bins, 1);
  return (
    <ul
      aria-label={`Spread of ${name}`}
      className="flex items-end border-line border-b"
      style={{ height: HEIGHT }}
    >
      {bins.map((items, part) => {
        const range = { low: part / bins.length, high: (part + 1) / bins.length };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
          <li key={part} className="flex h-full flex-1 items-end">
            {items > 0 && (
              <Bar
                items={items}
                range={range}
                height={Math.max(MIN_BAR_HEIGHT, (items / most) * HEIGHT)}
                isBelowPassMark={passMark !== undefined && range.high <= passMark + Number.EPSILON}
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
      aria-label={`${pluralize(items, 'item')} from ${bounds}${isBelowPassMark ? ', below the mark' : ''}: show them`}
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
