// An item: its head and its tabs, in a pane or on a page of its own.

import { type RefObject, useId, useMemo } from 'react';
import { ApiError } from '../../../api/client';
import { useOverview } from '../../../api/events';
import type { ItemsFilter } from '../../../api/queries';
import type { Overview, WholeItem } from '../../../api/types';
import { ErrorMessage } from '../../../components/error-message';
import { Skeleton } from '../../../components/skeleton';
import { type KeyHandlers, useKeys } from '../../../lib/use-keys';
import { useUrlParameters } from '../../../lib/use-url-parameters';
import { Content, type TabName, tabsOf } from './content';
import { Head } from './head';
import { trialsOf } from './item';
import { experimentPlace, itemPlace } from './source';
import { SourceLink } from './source-link';
import { useItem } from './use-item';

interface ItemViewProps {
  runId: string;
  itemKey: string;
  /** What the previous and the next item follow. */
  filter: ItemsFilter;
  /** The heading of the page; without it, the item is a pane. */
  heading?: RefObject<HTMLHeadingElement | null>;
  /** The same item in the other form: a page, or a pane beside the table. */
  other: string;
  onGo: (key: string) => void;
  /** Closes the pane, or leaves the page. */
  onClose: () => void;
}

export function ItemView({ runId, itemKey, filter, heading, other, onGo, onClose }: ItemViewProps) {
  const title = useId();
  const { get, set } = useUrlParameters();
  const query = useItem(runId, itemKey, filter);
  const overview = useOverview(runId);
  // The previous item is shown while the next one is loading.
  const whole = query.data;
  const run = overview.data?.run;
  const trials = whole === undefined ? [] : trialsOf(whole.item);
  const selected = Number.parseInt(get('execution'), 10) - 1;
  const shown = selected >= 0 && selected < trials.length ? selected : 0;
  const tabs = useMemo(() => {
    const execution = whole && (trialsOf(whole.item)[shown] ?? whole.item);
    return execution === undefined ? [] : tabsOf(execution);
  }, [whole, shown]);
  const tab = tabs.find((name) => name === get('tab')) ?? 'result';
  const showTrial = (trial: number) =>
    set({ execution: trial === 0 ? undefined : String(trial + 1), span: undefined });
  const showTab = (name: TabName) => set({ tab: name === 'result' ? undefined : name });
  useItemKeys({ tabs, tab, neighbours: whole, onTab: showTab, onGo, onClose });

  const error = whole === undefined ? (query.error ?? overview.error) : null;
  return (
    <section
      aria-labelledby={`${title}-kind ${title}`}
      className="flex h-full min-h-0 min-w-0 flex-col bg-surface text-text"
    >
      {/* An item may have the name of one of its sections. */}
      <span id={`${title}-kind`} hidden>
        Item
      </span>
      <Head
        id={title}
        run={run}
        itemKey={itemKey}
        whole={whole}
        heading={heading}
        shown={shown}
        onShow={showTrial}
        onGo={onGo}
        other={other}
        onClose={heading === undefined ? onClose : undefined}
      >
        {overview.data && <Sources overview={overview.data} whole={whole} />}
      </Head>
      {error !== null ? (
        <ErrorMessage
          title={problem(error)}
          error={error}
          onRetry={() => {
            void query.refetch();
            void overview.refetch();
          }}
        />
      ) : whole === undefined || run === undefined ? (
        <div className="p-4">
          <Skeleton label="Loading the item" rows={5} className="h-20" />
        </div>
      ) : (
        <Content key={whole.item.key} run={run} whole={whole} shown={shown} tab={tab} onTab={showTab} />
      )}
    </section>
  );
}

/** Where the experiment is declared, and what the item names as its source. */
function Sources({ overview, whole }: { overview: Overview; whole: WholeItem | undefined }) {
  const experiment = experimentPlace(overview);
  const item = whole && itemPlace(whole.item.input, experiment);
  const { editor } = overview;
  return (
    <div className="flex min-w-0 flex-wrap gap-x-3">
      {experiment && <SourceLink place={experiment} what="experiment" editor={editor} />}
      {item && <SourceLink place={item} what="item" editor={editor} />}
    </div>
  );
}

const problem = (error: Error) =>
  error instanceof ApiError && error.status === 404 ? 'Item not found' : 'Failed to load the item';

interface ItemKeys {
  tabs: TabName[];
  tab: TabName;
  neighbours: { previous?: string | null; next?: string | null } | undefined;
  onTab: (tab: TabName) => void;
  onGo: (key: string) => void;
  onClose: () => void;
}

/** The shortcuts of an item. They need no focus. */
function useItemKeys({ tabs, tab, neighbours, onTab, onGo, onClose }: ItemKeys) {
  const keys = useMemo((): KeyHandlers => {
    const go = (event: KeyboardEvent, key: string | null | undefined) => {
      if (key == null) return;
      event.preventDefault();
      onGo(key);
    };
    const step = (by: number) => {
      const name = tabs[tabs.indexOf(tab) + by];
      if (name !== undefined) onTab(name);
    };
    return {
      j: (event) => go(event, neighbours?.next),
      k: (event) => go(event, neighbours?.previous),
      '[': () => step(-1),
      ']': () => step(1),
      Escape: onClose,
    };
  }, [tabs, tab, neighbours, onTab, onGo, onClose]);
  useKeys(keys);
}
