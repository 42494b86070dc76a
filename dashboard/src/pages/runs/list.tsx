// The list of runs: a table, or cards in a narrow window.
import clsx from 'clsx';
import type { RunRow } from '../../api/types';
import { useMediaQuery } from '../../lib/use-media-query';
import { RunCards } from './cards';
import { RunTable } from './table';
import type { Filters } from './use-filters';
import type { SelectedRuns } from './use-selected-runs';

export interface ListProps {
  runs: RunRow[];
  /** The number of matching runs, loaded or not. */
  matching: number;
  filters: Filters;
  selection: SelectedRuns;
  /** Loads more runs; undefined if there are none or they are already loading. */
  onEnd?: () => void;
}

export function RunList({
  isStale,
  isLoadingMore,
  ...list
}: ListProps & { isStale: boolean; isLoadingMore: boolean }) {
  const isNarrow = useMediaQuery('(max-width: 767px)');
  return (
    <div
      aria-busy={isStale}
      className={clsx('rounded-lg border border-line bg-surface transition-opacity', isStale && 'opacity-60')}
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
