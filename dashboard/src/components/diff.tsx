// Two values held against each other: what was taken away and what was added, side by side, or each as it is.
import clsx from 'clsx';
import { type ReactNode, useMemo, useState } from 'react';
import { type DiffPart, diffTexts, type TextDiff } from '../lib/text-diff';
import { toText } from '../lib/texts';
import { SegmentedControl } from './segmented-control';
import { isLong, renderText, TextBlock } from './text';

const VIEWS = [
  { value: 'diff', name: 'Diff' },
  { value: 'sides', name: 'Side by side' },
  { value: 'raw', name: 'Raw' },
] as const;

type View = (typeof VIEWS)[number]['value'];

interface DiffProps {
  before: unknown;
  after: unknown;
  /** What the two are called, such as `Expected` and `Output`. */
  names: readonly [string, string];
  /** How they are shown until somebody chooses. */
  view?: View;
}

export function Diff({ before, after, names, view: initialView = 'diff' }: DiffProps) {
  const found = useMemo(() => diffTexts(before, after), [before, after]);
  const [chosen, setChosen] = useState<View>(initialView);
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2 text-xs">
        <Legend found={found} names={names} view={chosen} />
        <SegmentedControl
          label="How the difference is shown"
          value={chosen}
          options={VIEWS}
          onChange={setChosen}
        />
      </div>
      {chosen === 'diff' && found.unit !== undefined && <InlineDiff found={found} />}
      {(chosen === 'sides' || (chosen === 'diff' && found.unit === undefined)) && (
        <SideBySide found={found} names={names} />
      )}
      {chosen === 'raw' && <RawTexts texts={[toText(before), toText(after)]} names={names} />}
    </div>
  );
}

/** What the marks of a difference mean, or that there is none. */
function Legend({ found, names, view: way }: { found: TextDiff; names: DiffProps['names']; view: View }) {
  if (found.isEqual) return <p className="text-good">Both are the same.</p>;
  if (found.unit === undefined) return <p className="text-muted">Too large, or too different, for a diff.</p>;
  if (way === 'raw') return <span />;
  return (
    <p className="text-muted">
      <del className={MARKS.removed.look}>only in {inSentence(names[0])}</del>{' '}
      <ins className={MARKS.added.look}>only in {inSentence(names[1])}</ins>
    </p>
  );
}

/** A name without its capital. */
const inSentence = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

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

function InlineDiff({ found }: { found: TextDiff }) {
  // It may be of any length.
  if (found.isEqual) {
    return (
      <TextBlock isCode={found.isJson} className={BOX}>
        {found.after}
      </TextBlock>
    );
  }
  return <DiffParts parts={found.parts} isCode={found.isJson} label="Difference" />;
}

function SideBySide({ found, names }: { found: TextDiff; names: DiffProps['names'] }) {
  if (found.unit === undefined || found.isEqual) {
    return <RawTexts texts={[found.before, found.after]} names={names} />;
  }
  const without = (kind: DiffPart['kind']) => found.parts.filter((part) => part.kind !== kind);
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Column name={names[0]}>
        <DiffParts parts={without('added')} isCode={found.isJson} label={names[0]} />
      </Column>
      <Column name={names[1]}>
        <DiffParts parts={without('removed')} isCode={found.isJson} label={names[1]} />
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

/** The parts of a difference; long ones scroll in their place. */
function DiffParts({ parts, isCode, label }: { parts: DiffPart[]; isCode: boolean; label: string }) {
  const long = isLong(parts.map((part) => part.text).join(''));
  const text = parts.map((part, place) => {
    const { element: Element, look } = MARKS[part.kind];
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no names but their places
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
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
