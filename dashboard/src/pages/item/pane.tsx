// An item beside the table of its run. Its URL can be shared; opening it leaves the focus in the table.
import { useCallback } from 'react';
import type { ItemsFilter } from '../../api/queries';
import { useUrlParameters } from '../../lib/use-url-parameters';
import { itemPage } from './addresses';
import { ItemView } from './view';

interface ItemPaneProps {
  runId: string;
  itemKey: string;
  /** What the previous and the next item follow: the filters and the order of the table. */
  filter: ItemsFilter;
  onClose: () => void;
}

/** Fills its container, which must have a height. */
export function ItemPane({ runId, itemKey, filter, onClose }: ItemPaneProps) {
  const { set, search } = useUrlParameters();
  // Synchronous: the next key press starts from the new item.
  const go = useCallback((item: string) => set({ item, execution: undefined }), [set]);
  return (
    <ItemView
      runId={runId}
      itemKey={itemKey}
      filter={filter}
      other={itemPage(runId, itemKey, search)}
      onGo={go}
      onClose={onClose}
    />
  );
}
