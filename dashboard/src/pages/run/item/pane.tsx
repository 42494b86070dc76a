// An item beside the table of its run. Its URL can be shared; opening it leaves the focus in the table.
import { useCallback } from 'react';
import type { ItemsFilter } from '../../../api/queries';
import { itemPage, NO_ITEM } from '../../../lib/item-addresses';
import { useIsWide } from '../../../lib/use-media-query';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import { HeadingLevel } from './heading';
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
  // In a narrow window, it takes the place of the page.
  const isWide = useIsWide();
  const { set, search } = useUrlParameters();
  // Synchronous: the next key press starts from the new item.
  const go = useCallback((item: string) => set({ ...NO_ITEM, item }), [set]);
  return (
    <HeadingLevel value={isWide ? 2 : 1}>
      <ItemView
        runId={runId}
        itemKey={itemKey}
        filter={filter}
        other={itemPage(runId, itemKey, search)}
        onGo={go}
        onClose={onClose}
      />
    </HeadingLevel>
  );
}
