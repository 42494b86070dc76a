// The figures of an evaluator in the head of its column: mean, change and distribution.
import clsx from 'clsx';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import type { ItemsFilter } from '../../../api/queries';
import type { Overview } from '../../../api/types';
import { DIFFERENCE_COLOURS } from '../../../components/difference-verdict';
import { formatScore, formatSigned } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { passMarkOf } from '../../../lib/report';
import type { MeanChange } from '../compare/use-mean-changes';
import { Distribution, widerBins } from '../distribution';
import { isRangeShown, type ScoreRange } from './filter';

/** In pixels. */
const HEIGHT = 24;

interface ScoreHeadProps {
  overview: Overview;
  evaluator: string;
  change: MeanChange | undefined;
  filter: ItemsFilter;
  onRange: (evaluator: string, range: ScoreRange) => void;
  /** Sorts the items; absent outside compare mode. */
  onSortChange?: (sort: string) => void;
}

export const ScoreHead = memo(function ScoreHead(props: ScoreHeadProps) {
  const { overview, evaluator, change, filter, onRange, onSortChange } = props;
  const { run, histograms } = overview;
  const stats = getOwn(run.summary.scores, evaluator);
  const bins = getOwn(histograms, evaluator);
  const passMark = passMarkOf(run, evaluator);
  return (
    <>
      <p className="font-semibold text-sm text-text tabular-nums" title="Mean over all items">
        {stats === undefined ? '–' : formatScore(stats.avg)}
      </p>
      {change !== undefined && (
        <p title={change.title} className="font-normal whitespace-nowrap tabular-nums">
          <ChangeSort evaluator={evaluator} filter={filter} onSort={onSortChange}>
            <span className={clsx('font-medium', DIFFERENCE_COLOURS[change.verdict])}>
              {formatSigned(change.value)}
            </span>{' '}
            {change.against}
          </ChangeSort>
        </p>
      )}
      {bins !== undefined && (
        <Distribution
          name={evaluator}
          bins={widerBins(bins, passMark)}
          passMark={passMark}
          height={HEIGHT}
          isShown={(range) => isRangeShown(filter, evaluator, range)}
          onRange={(range) => onRange(evaluator, range)}
        />
      )}
    </>
  );
});

interface ChangeSortProps {
  evaluator: string;
  filter: ItemsFilter;
  onSort: ((sort: string) => void) | undefined;
  children: ReactNode;
}

/** Sorts by the change of a score in compare mode. */
function ChangeSort({ evaluator, filter, onSort, children }: ChangeSortProps) {
  if (onSort === undefined) return children;
  const sort = `change:${evaluator}`;
  const isSorted = filter.sort === sort;
  const Arrow = filter.order === 'desc' ? ArrowDown : ArrowUp;
  return (
    <button
      type="button"
      aria-pressed={isSorted}
      onClick={() => onSort(sort)}
      className="inline-flex items-center gap-1 rounded hover:underline"
    >
      <span>
        <span className="sr-only">Sort by change: </span>
        {children}
      </span>
      {isSorted && <Arrow className="size-3 shrink-0 text-accent" aria-hidden="true" />}
    </button>
  );
}
