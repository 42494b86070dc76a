// The trace of a trial: a waterfall of its spans, and the selected span beside or below it.
import clsx from 'clsx';
import { useMemo, useState } from 'react';
import type { Span } from '../../../../api/types';
import { Button } from '../../../../components/button';
import { SegmentedControl } from '../../../../components/segmented-control';
import { formatCount, pluralize } from '../../../../lib/format';
import { useUrlParameters } from '../../../../lib/use-url-parameters';
import { SpanDetails } from './details';
import { timelineOf } from './timeline';
import { buildTree, flatRows, rowsOf, type SpanNode } from './tree';
import { Waterfall } from './waterfall';

interface TraceProps {
  spans: Span[];
  /** How many further spans were not recorded. */
  dropped: number;
}

const KINDS = {
  all: { name: 'All', has: () => true },
  model: { name: 'Models', has: ({ kind }: Span) => kind === 'model' },
  tool: { name: 'Tools', has: ({ kind }: Span) => kind === 'tool' },
  failed: { name: 'Failed', has: ({ status }: Span) => status === 'error' },
};

type Kind = keyof typeof KINDS;

export function Trace({ spans, dropped }: TraceProps) {
  const { get, set } = useUrlParameters();
  const [kind, setKind] = useState<Kind>('all');
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const tree = useMemo(() => buildTree(spans), [spans]);
  const timeline = useMemo(() => timelineOf(spans), [spans]);
  const rows = useMemo(
    () => (kind === 'all' ? rowsOf(tree, collapsed) : flatRows(spans, KINDS[kind].has)),
    [tree, collapsed, spans, kind],
  );
  const parents = useMemo(() => parentsOf(tree), [tree]);
  const place = Number.parseInt(get('span'), 10) - 1;
  const selected = spans[place];
  const select = (next: number | undefined) =>
    set({ span: next === undefined ? undefined : String(next + 1) });
  const toggle = (parent: number) => {
    const next = new Set(collapsed);
    if (!next.delete(parent)) next.add(parent);
    setCollapsed(next);
  };
  return (
    <div className="@container flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <KindPicker spans={spans} kind={kind} onChange={setKind} />
        {kind === 'all' && parents.length > 0 && (
          <Button
            className="h-7! px-2! text-xs"
            onClick={() => setCollapsed(new Set(collapsed.size > 0 ? [] : parents))}
          >
            {collapsed.size > 0 ? 'Expand all' : 'Collapse all'}
          </Button>
        )}
      </div>
      <div
        className={clsx('grid items-start gap-3', selected && '@4xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]')}
      >
        <Waterfall
          key={kind}
          rows={rows}
          timeline={timeline}
          hasTokens={spans.some(({ model }) => model?.tokens != null)}
          hasCost={spans.some(({ model }) => model?.cost != null)}
          collapsed={collapsed}
          onToggle={toggle}
          selected={selected && place}
          onSelect={select}
          // The box fits into the tab, whose height is known.
          className={clsx(
            'min-h-40 @4xl:max-h-[calc(100cqh-8rem)]',
            selected ? 'max-h-[45cqh]' : 'max-h-[calc(100cqh-8rem)]',
          )}
        />
        {selected && <SpanDetails key={place} span={selected} onClose={() => select(undefined)} />}
      </div>
      {dropped > 0 && (
        <p className="text-muted text-xs">{pluralize(dropped, 'further span')} not recorded.</p>
      )}
    </div>
  );
}

/** The numbers of a trace in one line: `20 spans, 2 failed`. */
export function traceNote(spans: Span[], dropped: number): string {
  const failed = spans.filter(KINDS.failed.has).length;
  const all = pluralize(spans.length + dropped, 'span');
  return failed > 0 ? `${all}, ${formatCount(failed)} failed` : all;
}

/** The places of the spans that have others below them. */
const parentsOf = (nodes: SpanNode[]): number[] =>
  nodes.flatMap(({ place, children }) => (children.length > 0 ? [place, ...parentsOf(children)] : []));

/** Offers the kinds that only some spans have. */
function KindPicker({
  spans,
  kind,
  onChange,
}: {
  spans: Span[];
  kind: Kind;
  onChange: (kind: Kind) => void;
}) {
  const options = (Object.keys(KINDS) as Kind[]).flatMap((value) => {
    const count = spans.filter(KINDS[value].has).length;
    const isUseful = value === 'all' || (count > 0 && count < spans.length);
    return isUseful ? [{ value, name: `${KINDS[value].name} ${formatCount(count)}` }] : [];
  });
  if (options.length < 2) return null;
  return <SegmentedControl label="Spans" value={kind} options={options} onChange={onChange} />;
}
