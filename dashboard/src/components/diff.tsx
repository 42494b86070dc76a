// The diff of two values: inline, side by side, or both unchanged.
import clsx from 'clsx';
import { type ReactNode, useMemo, useState } from 'react';
import { type DiffPart, diffTexts, type TextDiff } from '../lib/text-diff';
import { toText } from '../lib/texts';
import { isLong } from './rich/folded-block';
import { SegmentedControl } from './segmented-control';
import { renderText, TextBlock } from './text';

const VIEWS = [
  { value: 'diff', name: 'Diff' },
  { value: 'sides', name: 'Side by side' },
  { value: 'raw', name: 'Raw' },
] as const;

type View = (typeof VIEWS)[number]['value'];

interface DiffProps {
  before: unknown;
  after: unknown;
  /** The names of the two values, such as `Expected` and `Output`. */
  names: readonly [string, string];
  /** The initial view. */
  view?: View;
}

export function Diff({ before, after, names, view: initialView = 'diff' }: DiffProps) {
  const diff = useMemo(() => diffTexts(before, after), [before, after]);
  const [view, setView] = useState<View>(initialView);
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2 text-xs">
        <Legend diff={diff} names={names} view={view} />
        <SegmentedControl label="Diff view" value={view} options={VIEWS} onChange={setView} />
      </div>
      {view === 'diff' && diff.unit !== undefined && <InlineDiff diff={diff} />}
      {(view === 'sides' || (view === 'diff' && diff.unit === undefined)) && (
        <SideBySide diff={diff} names={names} />
      )}
      {view === 'raw' && <RawTexts texts={[toText(before), toText(after)]} names={names} />}
    </div>
  );
}

/** Explains the marks of a diff, or says that there are no differences. */
function Legend({ diff, names, view }: { diff: TextDiff; names: DiffProps['names']; view: View }) {
  if (diff.isEqual) return <p className="text-good">No differences</p>;
  if (diff.unit === undefined) return <p className="text-muted">Too large or too different for a diff</p>;
  if (view === 'raw') return <span />;
  return (
    <p className="text-muted">
      <del className={MARKS.removed.look} title={`Only in: ${names[0]}`}>
        Removed
      </del>{' '}
      <ins className={MARKS.added.look} title={`Only in: ${names[1]}`}>
        Added
      </ins>
    </p>
  );
}

const MARKS = {
  same: { element: 'span', look: undefined },
  removed: { element: 'del', look: 'rounded-sm bg-bad-soft text-bad line-through decoration-bad/60' },
  added: {
    element: 'ins',
    look: 'rounded-sm bg-good-soft text-good underline decoration-good/60 underline-offset-2',
  },
} as const;

const BOX =
  'rounded-md border border-line bg-sunken/50 px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]';

/** Removed and added text in one, with its legend. */
export function InlineDifference({ diff, names }: { diff: TextDiff; names: DiffProps['names'] }) {
  return (
    <>
      <div className="mb-2 text-xs">
        <Legend diff={diff} names={names} view="diff" />
      </div>
      <InlineDiff diff={diff} />
    </>
  );
}

function InlineDiff({ diff }: { diff: TextDiff }) {
  // The text may be long, so it is collapsible.
  if (diff.isEqual) {
    return (
      <TextBlock isCode={diff.isJson} className={BOX}>
        {diff.after}
      </TextBlock>
    );
  }
  return <DiffParts parts={diff.parts} isCode={diff.isJson} label="Diff" />;
}

function SideBySide({ diff, names }: { diff: TextDiff; names: DiffProps['names'] }) {
  if (diff.unit === undefined || diff.isEqual) {
    return <RawTexts texts={[diff.before, diff.after]} names={names} />;
  }
  const without = (kind: DiffPart['kind']) => diff.parts.filter((part) => part.kind !== kind);
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Column name={names[0]}>
        <DiffParts parts={without('added')} isCode={diff.isJson} label={names[0]} />
      </Column>
      <Column name={names[1]}>
        <DiffParts parts={without('removed')} isCode={diff.isJson} label={names[1]} />
      </Column>
    </div>
  );
}

function Column({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 font-medium text-muted text-xs">{name}</p>
      {children}
    </div>
  );
}

/** The parts of a diff; a long diff scrolls in its own box. */
function DiffParts({ parts, isCode, label }: { parts: DiffPart[]; isCode: boolean; label: string }) {
  const long = isLong(parts.map((part) => part.text).join(''));
  const text = parts.map((part, place) => {
    const { element: Element, look } = MARKS[part.kind];
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by their index
      <Element key={place} className={look}>
        {renderText(part.text)}
      </Element>
    );
  });
  const look = clsx(BOX, isCode && 'font-mono text-xs/5', long && 'max-h-96 overflow-y-auto');
  if (!long) {
    return (
      <div dir="auto" className={look}>
        {text}
      </div>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section dir="auto" className={look} aria-label={label} tabIndex={0}>
      {text}
    </section>
  );
}

function RawTexts({ texts, names }: { texts: [string, string]; names: DiffProps['names'] }) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {names.map((name, side) => (
        <Column key={name} name={name}>
          <TextBlock className={BOX}>{texts[side] ?? ''}</TextBlock>
        </Column>
      ))}
    </div>
  );
}
