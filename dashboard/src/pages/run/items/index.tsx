// All items of a run: what of them is wanted, the table, and the one that is looked at.
import { type RefObject, useCallback, useMemo } from 'react';
import { useLocation } from 'react-router';
import type { Overview } from '../../../api/types';
import { Button } from '../../../components/button';
import { Empty } from '../../../components/empty';
import { Problem } from '../../../components/problem';
import { counted } from '../../../lib/format';
import { useParameters } from '../../../lib/use-parameters';
import { Drawer } from '../drawer';
import { evaluatorsOf } from '../verdict';
import { choiceOf, isFiltered, sortedBy, UNFILTERED } from './choice';
import { Filters } from './filters';
import { ItemTable } from './table';
import { useItem } from './use-item';
import { useFirstItems } from './use-items';

export function Items({
  overview,
  heading,
}: {
  overview: Overview;
  heading: RefObject<HTMLHeadingElement | null>;
}) {
  const { get, set, search } = useParameters();
  const { id } = overview.run;
  const choice = useMemo(() => choiceOf(search), [search]);
  const evaluators = useMemo(() => evaluatorsOf(overview.run), [overview.run]);
  const start = useFirstItems(id, choice);
  const key = get('item');
  const item = useItem(id, key, choice);
  const itemAt = useItemAddress();
  const close = useCallback(() => set({ item: undefined, execution: undefined }), [set]);
  const sort = (column: string) => set(sortedBy(column, choice));

  const matching = start.data?.matching ?? overview.finishedItems;
  const place = item.data?.item.key === key ? (item.data.position ?? undefined) : undefined;
  return (
    <section aria-labelledby="items" className="flex flex-col gap-3">
      <div className="flex items-baseline gap-3">
        <h2 id="items" ref={heading} className="scroll-mt-20 font-semibold text-base">
          Items
        </h2>
        <p role="status" className="text-muted text-xs">
          {isFiltered(choice)
            ? `${counted(matching, 'item')} of ${counted(overview.finishedItems, 'item')}`
            : ''}
        </p>
      </div>
      <Filters
        choice={choice}
        evaluators={evaluators}
        states={overview.states}
        total={overview.finishedItems}
        onChange={set}
      />
      {start.isError && start.data === undefined ? (
        <Problem title="The items could not be loaded" error={start.error} onRetry={start.refetch} />
      ) : matching === 0 && start.data !== undefined ? (
        <None isFiltered={isFiltered(choice)} onClear={() => set(UNFILTERED)} />
      ) : (
        <ItemTable
          id={id}
          evaluators={evaluators}
          choice={choice}
          start={start}
          matching={matching}
          open={key === '' ? undefined : { key, place }}
          itemAt={itemAt}
          onSort={sort}
        />
      )}
      {key !== '' && (
        <Drawer key={id} run={overview.run} itemKey={key} query={item} itemAt={itemAt} onClose={close} />
      )}
    </section>
  );
}

function None({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (!isFiltered) return <Empty title="No item has come yet" />;
  return (
    <Empty title="No item matches">
      <Button onClick={onClear}>Clear the filters</Button>
    </Empty>
  );
}

/** The address of an item's drawer beside what is chosen now. */
function useItemAddress() {
  const { search } = useLocation();
  const around = useMemo(() => {
    const parameters = new URLSearchParams(search);
    parameters.delete('item');
    parameters.delete('execution');
    return parameters.toString();
  }, [search]);
  return useCallback(
    (key: string) => {
      const parameters = new URLSearchParams(around);
      parameters.set('item', key);
      return `?${parameters}`;
    },
    [around],
  );
}
