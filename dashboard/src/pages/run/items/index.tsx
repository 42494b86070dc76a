// The items of a run: filters, table and the drawer of the open item.
import clsx from 'clsx';
import { useCallback, useMemo } from 'react';
import { useLocation } from 'react-router';
import type { Overview } from '../../../api/types';
import { Button } from '../../../components/button';
import { EmptyState } from '../../../components/empty-state';
import { ErrorMessage } from '../../../components/error-message';
import { pluralize } from '../../../lib/format';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import { ItemPane } from '../../item/pane';
import { useItem } from '../../item/use-item';
import { evaluatorsOf } from '../verdict';
import { useIsWide, Workbench } from '../workbench';
import { isFiltered, nextSort, parseFilter, UNFILTERED } from './filter';
import { Filters } from './filters';
import { ItemTable } from './table';
import { useFirstPage } from './use-items';

export function Items({ overview }: { overview: Overview }) {
  const { get, set, search } = useUrlParameters();
  const { id } = overview.run;
  const filter = useMemo(() => parseFilter(search), [search]);
  const evaluators = useMemo(() => evaluatorsOf(overview.run), [overview.run]);
  const start = useFirstPage(id, filter);
  const key = get('item');
  const item = useItem(id, key, filter);
  const itemAt = useItemAddress();
  const close = useCallback(() => set({ item: undefined, execution: undefined }), [set]);
  const sort = (column: string) => set(nextSort(column, filter));

  const matching = start.data?.matching ?? overview.finishedItems;
  const place = item.data?.item.key === key ? (item.data.position ?? undefined) : undefined;
  const isWide = useIsWide();
  const table =
    start.isError && start.data === undefined ? (
      <ErrorMessage title="Failed to load the items" error={start.error} onRetry={start.refetch} />
    ) : matching === 0 && start.data !== undefined ? (
      <NoItems isFiltered={isFiltered(filter)} onClear={() => set(UNFILTERED)} />
    ) : (
      <ItemTable
        id={id}
        evaluators={evaluators}
        filter={filter}
        start={start}
        matching={matching}
        open={key === '' ? undefined : { key, place }}
        itemAt={itemAt}
        onSort={sort}
      />
    );
  return (
    <section aria-labelledby="items" className="flex min-h-0 grow flex-col">
      <div className={clsx('px-4 py-2', key !== '' && !isWide && 'hidden')}>
        <h2 id="items" className="sr-only">
          Items
        </h2>
        <p role="status" className="sr-only">
          {isFiltered(filter)
            ? `${pluralize(matching, 'item')} of ${pluralize(overview.finishedItems, 'item')}`
            : ''}
        </p>
        <Filters
          filter={filter}
          evaluators={evaluators}
          states={overview.states}
          total={overview.finishedItems}
          onChange={set}
        />
      </div>
      <Workbench
        table={table}
        pane={key === '' ? undefined : <ItemPane runId={id} itemKey={key} filter={filter} onClose={close} />}
      />
    </section>
  );
}

function NoItems({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (!isFiltered) return <EmptyState title="No results yet" />;
  return (
    <EmptyState title="No items match these filters">
      <Button onClick={onClear}>Clear filters</Button>
    </EmptyState>
  );
}

/** The URL of an item's drawer; keeps the filters. */
function useItemAddress() {
  const { search } = useLocation();
  const filters = useMemo(() => {
    const parameters = new URLSearchParams(search);
    parameters.delete('item');
    parameters.delete('execution');
    return parameters.toString();
  }, [search]);
  return useCallback(
    (key: string) => {
      const parameters = new URLSearchParams(filters);
      parameters.set('item', key);
      return `?${parameters}`;
    },
    [filters],
  );
}
