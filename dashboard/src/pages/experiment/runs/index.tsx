// The runs of an experiment: filters, and a table with a column per score, or cards in a narrow window.
import { useMemo } from 'react';
import type { RunRow } from '../../../api/types';
import { Button } from '../../../components/button';
import { EmptyState } from '../../../components/empty-state';
import { useMediaQuery } from '../../../lib/use-media-query';
import { SelectionBar } from '../../runs/selection-bar';
import { useSelectedRuns } from '../../runs/use-selected-runs';
import { ExperimentRunCards } from './cards';
import { columnsOf } from './columns';
import { ExperimentRunTable } from './table';
import { Toolbar } from './toolbar';
import { useRunOrder } from './use-run-order';

interface ExperimentRunsProps {
  /** Latest first. */
  runs: RunRow[];
}

export function ExperimentRuns({ runs }: ExperimentRunsProps) {
  const columns = useMemo(() => columnsOf(runs), [runs]);
  const order = useRunOrder(columns, runs);
  const shown = useMemo(() => order.apply(runs), [order.apply, runs]);
  const selection = useSelectedRuns(runs);
  const previousOf = usePreviousRuns(runs);
  const contextOf = (run: RunRow) => ({
    previous: previousOf(run),
    changeOf: order.changeOf,
  });
  const list = { runs: shown, columns, selection, contextOf };
  const isNarrow = useMediaQuery('(max-width: 767px)');
  return (
    <div className="flex flex-col gap-3">
      <Toolbar runs={runs} shown={shown.length} columns={columns} order={order} isNarrow={isNarrow} />
      {shown.length === 0 ? (
        <EmptyState title="No runs match these filters">
          <Button onClick={order.clear}>Clear all filters</Button>
        </EmptyState>
      ) : isNarrow ? (
        <ExperimentRunCards {...list} />
      ) : (
        <ExperimentRunTable {...list} order={order} />
      )}
      <SelectionBar selection={selection} />
    </div>
  );
}

/** The run before each run: of the same name, since an experiment may have variants, and complete. */
function usePreviousRuns(runs: RunRow[]): (run: RunRow) => RunRow | undefined {
  return useMemo(() => {
    const previous = new Map<string, RunRow>();
    const latest = new Map<string, RunRow>();
    for (const run of runs.toReversed()) {
      const before = latest.get(run.name);
      if (before !== undefined) previous.set(run.id, before);
      if (run.verdict !== 'partial') latest.set(run.name, run);
    }
    return (run: RunRow) => previous.get(run.id);
  }, [runs]);
}
