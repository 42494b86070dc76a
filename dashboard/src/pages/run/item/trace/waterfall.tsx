// The spans of a trace as bars on a common time axis. Only the visible rows are rendered.
import { useVirtualizer } from '@tanstack/react-virtual';
import clsx from 'clsx';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { SpacerRow } from '../../../../components/spacer';
import { formatDuration } from '../../../../lib/format';
import { useWidth } from '../../../../lib/use-width';
import { actionOf } from './keys';
import { type Layout, SpanRowView } from './span-row';
import type { Timeline } from './timeline';
import type { SpanRow } from './tree';

interface WaterfallProps {
  rows: SpanRow[];
  timeline: Timeline;
  hasTokens: boolean;
  hasCost: boolean;
  collapsed: ReadonlySet<number>;
  onToggle: (place: number) => void;
  /** The place of the selected span. */
  selected: number | undefined;
  onSelect: (place: number) => void;
  className?: string;
}

/** In pixels. */
const ROW_HEIGHT = 30;
const NARROW_ROW_HEIGHT = 46;
const HEAD_HEIGHT = 28;
const NARROW = 460;
const ROOMY = 700;
/** The number of extra rows rendered outside the box. */
const OVERSCAN = 8;
/** The size of the box until it is measured. */
const INITIAL_SIZE = { width: 800, height: 480 };

export function Waterfall(props: WaterfallProps) {
  const { rows, timeline, hasTokens, hasCost, collapsed, onToggle, selected, onSelect, className } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box) || INITIAL_SIZE.width;
  const layout: Layout = {
    isNarrow: width < NARROW,
    hasTokens: hasTokens && width >= ROOMY,
    hasCost: hasCost && width >= ROOMY,
  };
  const height = layout.isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: HEAD_HEIGHT,
    scrollPaddingStart: HEAD_HEIGHT,
    initialRect: INITIAL_SIZE,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows have another height
  useEffect(() => virtual.measure(), [virtual, height]);

  const [activePlace, setActivePlace] = useState(selected ?? rows[0]?.place);
  const found = rows.findIndex(({ place }) => place === activePlace);
  const active = Math.max(found, 0);
  const visible = virtual.getVirtualItems();
  const goTo = (index: number) => {
    setActivePlace(rows[index]?.place);
    virtual.scrollToIndex(index);
    // The tab around the box may be scrolled as well.
    box.current?.scrollIntoView({ block: 'nearest' });
  };
  // A link to a span shows it.
  const first = useRef(true);
  useEffect(() => {
    if (first.current && selected !== undefined && found > 0) virtual.scrollToIndex(found);
    first.current = false;
  }, [selected, found, virtual]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(((box.current?.clientHeight ?? 0) - HEAD_HEIGHT) / height));
    const action = actionOf(event.key, { rows, active, collapsed, page });
    const row = rows[active];
    if (action === undefined || row === undefined) return;
    event.preventDefault();
    if (action.type === 'go') goTo(action.index);
    else if (action.type === 'toggle') onToggle(row.place);
    else onSelect(row.place);
  };
  const columns = 2 + Number(!layout.isNarrow) + Number(layout.hasTokens) + Number(layout.hasCost);
  const last = visible.at(-1);
  return (
    <div
      ref={box}
      className={clsx(
        'min-w-0 overflow-y-auto overflow-x-hidden rounded-md border border-line has-focus-visible:outline-2 has-focus-visible:outline-accent',
        className,
      )}
    >
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its rows are a tree
        role="treegrid"
        aria-label="Spans"
        aria-rowcount={rows.length + 1}
        aria-activedescendant={
          visible.some(({ index }) => index === active) ? `${id}-${rows[active]?.place}` : undefined
        }
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="group w-full table-fixed border-separate border-spacing-0 outline-none"
      >
        <Head timeline={timeline} layout={layout} />
        <tbody>
          <SpacerRow height={(visible[0]?.start ?? HEAD_HEIGHT) - HEAD_HEIGHT} columns={columns} />
          {visible.map(({ index }) => {
            const row = rows[index];
            return (
              row && (
                <SpanRowView
                  key={row.place}
                  id={`${id}-${row.place}`}
                  row={row}
                  index={index}
                  height={height}
                  timeline={timeline}
                  layout={layout}
                  isActive={index === active}
                  isSelected={row.place === selected}
                  isExpanded={row.children.length > 0 ? !collapsed.has(row.place) : undefined}
                  onSelect={() => {
                    setActivePlace(row.place);
                    onSelect(row.place);
                  }}
                  onToggle={() => onToggle(row.place)}
                />
              )
            );
          })}
          <SpacerRow
            height={virtual.getTotalSize() + HEAD_HEIGHT - (last?.end ?? HEAD_HEIGHT)}
            columns={columns}
          />
        </tbody>
      </table>
    </div>
  );
}

function Head({ timeline, layout }: { timeline: Timeline; layout: Layout }) {
  const { isNarrow, hasTokens, hasCost } = layout;
  const look =
    'border-line border-b bg-surface p-0 px-2 text-left align-middle font-medium text-muted text-xs';
  return (
    <thead className="sticky top-0 z-10">
      <tr aria-rowindex={1} style={{ height: HEAD_HEIGHT }}>
        <th scope="col" className={clsx(look, !isNarrow && 'w-[36%]', isNarrow && 'pr-0!')}>
          <span className={clsx(isNarrow && 'sr-only')}>Span</span>
          {isNarrow && <Axis timeline={timeline} />}
        </th>
        {!isNarrow && (
          <th scope="col" className={clsx(look, 'pr-0!')}>
            <span className="sr-only">Timeline</span>
            <Axis timeline={timeline} />
          </th>
        )}
        <th scope="col" className={clsx(look, 'w-18 text-right!')}>
          Duration
        </th>
        {hasTokens && (
          <th scope="col" className={clsx(look, 'w-24 text-right!')}>
            Tokens
          </th>
        )}
        {hasCost && (
          <th scope="col" className={clsx(look, 'w-22 text-right!')}>
            Agent cost
          </th>
        )}
      </tr>
    </thead>
  );
}

/** Times at the quarters of the axis. */
function Axis({ timeline: { startMs, durationMs } }: { timeline: Timeline }) {
  return (
    <div className="relative h-4" aria-hidden="true">
      {[0, 0.25, 0.5, 0.75].map((share) => (
        <span
          key={share}
          className="absolute top-0 w-1/4 overflow-hidden border-line border-l pl-1 font-normal leading-4 whitespace-nowrap tabular-nums"
          style={{ left: `${100 * share}%` }}
        >
          {formatDuration(startMs + share * durationMs)}
        </span>
      ))}
    </div>
  );
}
