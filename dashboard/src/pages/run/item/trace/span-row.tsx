// A row of the waterfall: the span's name, its bar on the time axis, and its numbers.
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import type { Span } from '../../../../api/types';
import { Text } from '../../../../components/text';
import { formatCost, formatDuration } from '../../../../lib/format';
import { escapeHidden } from '../../../../lib/texts';
import { errorOf, ICONS, LABELS, Marks, modelOf, nameOf, tokensOf } from './span';
import { barOf, type Timeline } from './timeline';
import type { SpanRow } from './tree';

/** Which columns there is room for. */
export interface Layout {
  /** The bar is below the name. */
  isNarrow: boolean;
  hasTokens: boolean;
  hasCost: boolean;
}

/** Lines at the quarters of the axis. */
const GRID = 'bg-[linear-gradient(to_right,var(--line)_1px,transparent_1px)] bg-[length:25%_100%]';

interface SpanRowProps {
  id: string;
  row: SpanRow;
  /** The index of the row. */
  index: number;
  height: number;
  timeline: Timeline;
  layout: Layout;
  isActive: boolean;
  isSelected: boolean;
  /** Undefined without spans below it. */
  isExpanded: boolean | undefined;
  onSelect: () => void;
  onToggle: () => void;
}

export function SpanRowView(props: SpanRowProps) {
  const { id, row, index, height, timeline, layout, isActive, isSelected, isExpanded, onSelect, onToggle } =
    props;
  const { span, depth } = row;
  const error = errorOf(span);
  const indent = depth * (layout.isNarrow ? 8 : 14);
  const number = 'truncate px-2 py-0 text-right align-middle whitespace-nowrap tabular-nums';
  return (
    <tr
      id={id}
      aria-rowindex={index + 2}
      aria-level={depth + 1}
      aria-expanded={isExpanded}
      aria-selected={isSelected}
      onClick={onSelect}
      title={error === undefined ? undefined : escapeHidden(error.slice(0, 500))}
      className={clsx(
        'cursor-pointer text-xs',
        isSelected ? 'bg-accent-soft' : 'hover:bg-sunken/60',
        isActive &&
          'group-focus-visible:outline-2 group-focus-visible:-outline-offset-2 group-focus-visible:outline-accent',
      )}
      style={{ height }}
    >
      <td className="overflow-hidden py-0 pr-0 pl-2 align-middle">
        <div className="flex min-w-0 items-center gap-1.5" style={{ paddingLeft: indent }}>
          <Fold isExpanded={isExpanded} onToggle={onToggle} />
          <Kind span={span} />
          <Name span={span} />
          <Marks span={span} />
          {row.hidesFailure && (
            <span className="size-2 shrink-0 rounded-full bg-bad">
              <span className="sr-only">a span below it failed</span>
            </span>
          )}
        </div>
        {layout.isNarrow && <Bar span={span} timeline={timeline} />}
      </td>
      {!layout.isNarrow && (
        <td className="py-0 pl-2 align-middle">
          <Bar span={span} timeline={timeline} />
        </td>
      )}
      <td className={clsx(number, layout.isNarrow && 'pt-1.5! align-top!')}>
        {formatDuration(span.durationMs)}
      </td>
      {layout.hasTokens && <td className={clsx(number, 'text-muted')}>{tokensOf(span)}</td>}
      {layout.hasCost && (
        <td className={clsx(number, 'text-muted')}>
          {span.model?.cost != null && formatCost(span.model.cost)}
        </td>
      )}
    </tr>
  );
}

function Fold({ isExpanded, onToggle }: { isExpanded: boolean | undefined; onToggle: () => void }) {
  if (isExpanded === undefined) return <span className="w-4 shrink-0" aria-hidden="true" />;
  return (
    <button
      type="button"
      // The arrow keys of the grid do the same.
      tabIndex={-1}
      aria-label={isExpanded ? 'Collapse' : 'Expand'}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
      className="-my-1 shrink-0 rounded py-1 text-muted hover:text-text"
    >
      <ChevronRight
        className={clsx('size-4 transition-transform', isExpanded && 'rotate-90')}
        aria-hidden="true"
      />
    </button>
  );
}

/** When the span was. */
function Bar({ span, timeline }: { span: Span; timeline: Timeline }) {
  const { left, width } = barOf(span, timeline);
  return (
    <div className={clsx('relative h-4', GRID)}>
      <span
        className={clsx('absolute inset-y-0.5 min-w-0.5 rounded-sm', barLook(span))}
        style={{ left: `min(${left}%, calc(100% - 2px))`, width: `${width}%` }}
      />
      <span className="sr-only">starts after {formatDuration(span.startMs)}</span>
    </div>
  );
}

function barLook({ kind, status }: Span): string {
  if (status === 'error') return 'bg-bad';
  if (kind === 'model') return 'bg-(--series-1)';
  if (kind === 'tool' || kind === 'retrieval') return 'bg-(--series-4)';
  return 'bg-(--series-6)/60';
}

function Kind({ span: { kind } }: { span: Span }) {
  const Icon = ICONS[kind];
  return (
    <span className="shrink-0 text-muted" title={LABELS[kind]}>
      <Icon className="size-3.5" aria-hidden="true" />
      <span className="sr-only">{LABELS[kind]}</span>
    </span>
  );
}

function Name({ span }: { span: Span }) {
  const model = modelOf(span);
  return (
    <span
      className="min-w-0 truncate"
      title={escapeHidden([nameOf(span), model].filter(Boolean).join(' · '))}
    >
      <span className="font-medium font-mono">
        <Text>{nameOf(span)}</Text>
      </span>
      {model !== undefined && (
        <span className="ml-1.5 text-muted">
          <Text>{model}</Text>
        </span>
      )}
    </span>
  );
}
