// The items of a run: the toolbar, the table, and the open item beside it.
import clsx from 'clsx';
import { useCallback, useMemo, useState } from 'react';
import type { ItemField, Overview } from '../../../api/types';
import { Button } from '../../../components/button';
import { EmptyState } from '../../../components/empty-state';
import { ErrorMessage } from '../../../components/error-message';
import { pluralize } from '../../../lib/format';
import { besideTable, NO_ITEM, withoutItem } from '../../../lib/item-addresses';
import { evaluatorsOf } from '../../../lib/report';
import { useIsWide, useMediaQuery } from '../../../lib/use-media-query';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import { ChangesFilter } from '../compare/changes-filter';
import { useComparedRuns } from '../compare/parameters';
import { referenceName } from '../compare/reference';
import { useMeanChanges } from '../compare/use-mean-changes';
import { ItemPane } from '../item/pane';
import { useItem } from '../item/use-item';
import { Workbench } from '../workbench';
import { columnsOf, conditionFields, type ItemColumn, shownColumns } from './columns';
import { isFiltered, parseFilter, type ScoreRange, toggleRange, UNFILTERED } from './filter';
import { parseColumns, parseRowHeight, parseWidths, widthsText } from './layout';
import { ScoreHead } from './score-head';
import { ItemTable } from './table';
import { Toolbar } from './toolbar';
import { useColumnActions } from './use-column-actions';
import { useFirstPage } from './use-items';

export function Items({ overview }: { overview: Overview }) {
  const { get, set, search } = useUrlParameters();
  const { run } = overview;
  const text = search.toString();
  // The same object as long as the URL has the same parameters.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `search` changes with every navigation
  const filter = useMemo(() => parseFilter(search), [text]);
  const start = useFirstPage(run.id, filter);
  const key = get('item');
  const item = useItem(run.id, key, filter);
  const isWide = useIsWide();
  const close = useCallback(() => set(NO_ITEM), [set]);
  const [condition, setCondition] = useState<string>();
  const columns = useColumns(overview, start.data?.fields);
  const fields = useMemo(() => conditionFields(columns.all), [columns.all]);
  const actions = useColumnActions({ ...columns, filter, onFilter: setCondition });
  const compared = useComparedRuns(run.id);
  const changes = useMeanChanges(overview, compared);
  const showRange = useCallback(
    (evaluator: string, range: ScoreRange) => set(toggleRange(filter, evaluator, range)),
    [set, filter],
  );
  const headOf = useCallback(
    ({ meta }: ItemColumn) =>
      meta?.evaluator !== undefined && (
        <ScoreHead
          overview={overview}
          evaluator={meta.evaluator}
          change={changes.get(meta.evaluator)}
          filter={filter}
          onRange={showRange}
          onSortChange={compared.length > 0 ? actions.onSort : undefined}
        />
      ),
    [overview, changes, filter, showRange, compared, actions],
  );

  const matching = start.data?.matching ?? overview.finishedItems;
  const place = item.data?.item.key === key ? (item.data.position ?? undefined) : undefined;
  const table =
    start.isError && start.data === undefined ? (
      <ErrorMessage title="Failed to load the items" error={start.error} onRetry={start.refetch} />
    ) : matching === 0 && start.data !== undefined ? (
      <NoItems isFiltered={isFiltered(filter)} onClear={() => set(UNFILTERED)} />
    ) : (
      <ItemTable
        id={run.id}
        filter={filter}
        start={start}
        matching={matching}
        columns={columns.all}
        shown={columns.shown}
        widths={columns.widths}
        rowHeight={columns.rowHeight}
        open={key === '' ? undefined : { key, place }}
        actions={actions}
        onWidths={(widths) => set({ widths: widthsText(widths) })}
        headOf={headOf}
      />
    );
  return (
    <section aria-labelledby="items" className="flex min-h-0 grow flex-col">
      <div className={clsx('border-line border-b px-4 py-2', key !== '' && !isWide && 'hidden')}>
        <h2 id="items" className="sr-only">
          Items
        </h2>
        <p role="status" className="sr-only">
          {isFiltered(filter)
            ? `${pluralize(matching, 'item')} of ${pluralize(overview.finishedItems, 'item')}`
            : ''}
        </p>
        <Toolbar
          overview={overview}
          filter={filter}
          matching={start.isPlaceholderData ? undefined : start.data?.matching}
          columns={columns.all}
          shown={columns.shown}
          rowHeight={columns.rowHeight}
          fields={fields}
          condition={condition}
          onCondition={setCondition}
          onChange={set}
        >
          {compared.length > 0 && (
            <ChangesFilter
              counts={start.data?.counts}
              only={filter.only ?? undefined}
              reference={referenceName(run, compared[0])}
              onChange={set}
            />
          )}
          {start.data?.sortPrefix != null && (
            <span className="text-muted text-xs whitespace-nowrap">
              Sorted by the first {start.data.sortPrefix} characters
            </span>
          )}
        </Toolbar>
      </div>
      <Workbench
        table={table}
        pane={
          key === '' ? undefined : <ItemPane runId={run.id} itemKey={key} filter={filter} onClose={close} />
        }
      />
    </section>
  );
}

const NO_FIELDS: ItemField[] = [];

/** All columns, and the layout from the URL. */
function useColumns({ run }: Overview, fields: ItemField[] = NO_FIELDS) {
  const { search } = useUrlParameters();
  const itemAt = useItemAddress(run.id);
  const compared = Math.max(0, useComparedRuns(run.id).length - 1);
  const evaluators = useMemo(() => evaluatorsOf(run), [run]);
  const [columnsParameter, widthsParameter] = [search.get('columns'), search.get('widths')];
  // biome-ignore lint/correctness/useExhaustiveDependencies: only this parameter matters
  const selected = useMemo(() => parseColumns(search), [columnsParameter]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only this parameter matters
  const widths = useMemo(() => parseWidths(search), [widthsParameter]);
  const isNarrow = useMediaQuery('(width < 40rem)');
  const all = useMemo(
    () => columnsOf(evaluators, fields, selected, itemAt, compared, isNarrow),
    [evaluators, fields, selected, itemAt, compared, isNarrow],
  );
  const shown = useMemo(() => shownColumns(all, selected), [all, selected]);
  return { all, shown, widths, rowHeight: parseRowHeight(search) };
}

function NoItems({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (!isFiltered) return <EmptyState title="No results yet" />;
  return (
    <EmptyState title="No items match these filters">
      <Button onClick={onClear}>Clear filters</Button>
    </EmptyState>
  );
}

/** The URL of an item beside the table; keeps the filters. The same function as long as they are the same. */
function useItemAddress(run: string) {
  const { search } = useUrlParameters();
  const text = withoutItem(search).toString();
  return useCallback((key: string) => besideTable(run, key, new URLSearchParams(text)), [run, text]);
}
