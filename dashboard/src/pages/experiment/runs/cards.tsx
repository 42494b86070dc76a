// An experiment's runs as cards, for narrow windows.
import { useMemo } from 'react';
import { useNavigate } from 'react-router';
import type { RunRow } from '../../../api/types';
import { Verdict } from '../../../components/verdict';
import { runUrl } from '../../../lib/addresses';
import { openRow } from '../../../lib/open-row';
import { useRowKeys } from '../../../lib/use-row-keys';
import { useVirtualRows } from '../../../lib/use-virtual-rows';
import { Commit, ItemCounts, SelectCheckbox } from '../../runs/cells';
import type { SelectedRuns } from '../../runs/use-selected-runs';
import { type CellContext, CompareWithPrevious, type RunColumn, RunDate, RunFacts } from './columns';

/** In pixels, with the border. */
const CARD_HEIGHT = 116;
const LINE_HEIGHT = 42;
const COLUMNS = 3;

/** The columns that have another place on the card. */
const ABOVE = ['started', 'verdict', 'items', 'commit'];

/** The height of the sticky page header in pixels. */
const HEADER_HEIGHT = 60;

interface ExperimentRunCardsProps {
  runs: RunRow[];
  columns: RunColumn[];
  selection: SelectedRuns;
  contextOf: (run: RunRow) => CellContext;
}

export function ExperimentRunCards({ runs, columns, selection, contextOf }: ExperimentRunCardsProps) {
  const navigate = useNavigate();
  const shown = columns.filter(({ key }) => !ABOVE.includes(key));
  const height = CARD_HEIGHT + LINE_HEIGHT * Math.ceil(shown.length / COLUMNS);
  const { list, items, before, after, scrollTo } = useVirtualRows<HTMLUListElement>({
    count: runs.length,
    height,
    headerHeight: HEADER_HEIGHT,
  });
  const ids = useMemo(() => runs.map(({ id }) => id), [runs]);
  useRowKeys(ids, scrollTo, selection.toggle);
  return (
    <ul ref={list} aria-label="Runs" className="rounded-lg border border-line bg-surface">
      <li aria-hidden="true" style={{ height: before }} />
      {items.map(({ index }) => {
        const run = runs[index];
        if (run === undefined) return null;
        const context = contextOf(run);
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the card contains a link for keyboard users
          <li
            key={run.id}
            aria-posinset={index + 1}
            style={{ height }}
            onClick={(event) => openRow(event, runUrl(run.id), navigate)}
            className="flex cursor-pointer flex-col gap-2 overflow-hidden border-line border-t p-3 first-of-type:border-t-0"
          >
            <div className="flex min-w-0 items-center gap-3">
              <SelectCheckbox run={run} selection={selection} />
              <RunDate run={run} />
              <span className="ml-auto flex items-center gap-2">
                <CompareWithPrevious run={run} previous={context.previous} />
                <Verdict verdict={run.verdict} />
              </span>
            </div>
            <RunFacts run={run} />
            <div className="flex items-center justify-between gap-3">
              <ItemCounts run={run} isInline />
              <Commit run={run} />
            </div>
            <dl className="grid grid-cols-3 gap-x-3">
              {shown.map(({ key, name, cell }) => (
                <div key={key} className="h-[42px] min-w-0 overflow-hidden">
                  <dt className="truncate text-muted text-xs">{name}</dt>
                  <dd className="truncate tabular-nums">{cell(run, context)}</dd>
                </div>
              ))}
            </dl>
          </li>
        );
      })}
      <li aria-hidden="true" style={{ height: after }} />
    </ul>
  );
}
