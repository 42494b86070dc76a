// The list of runs: a table, or cards where the window is narrow.
import clsx from 'clsx';
import type { RunRow } from '../../api/types';
import { useMediaQuery } from '../../lib/use-media-query';
import { RunCards } from './cards';
import { RunTable } from './table';
import type { Filters } from './use-filters';
import type { SelectedRuns } from './use-selected-runs';

export interface ListProps {
  runs: RunRow[];
  /** How many there are, also of those that are not loaded. */
  matching: number;
  filters: Filters;
  selection: SelectedRuns;
  /** Asks for more; undefined where there are no more, or they are on their way. */
  onEnd?: () => void;
}

export function RunList({
  isStale: isOld,
  isLoadingMore,
  ...list
}: ListProps & { isStale: boolean; isLoadingMore: boolean }) {
  const isNarrow = useMediaQuery('(max-width: 767px)');
  return (
    <div
      aria-busy={isOld}
      className={clsx('rounded-lg border border-line bg-surface transition-opacity', isOld && 'opacity-60')}
    >
      {isNarrow ? <RunCards {...list} /> : <RunTable {...list} />}
      {isLoadingMore && (
        <p role="status" className="border-line border-t py-3 text-center text-muted text-xs">
          Loading more runs
        </p>
      )}
    </div>
  );
}
