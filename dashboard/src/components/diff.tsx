// Two values held against each other: what was taken away and what was added, side by side, or each as it is.
import clsx from 'clsx';
import { type ReactNode, useMemo, useState } from 'react';
import { type Difference, difference, type Part } from '../lib/difference';
import { asText } from '../lib/texts';
import { Choice } from './choice';
import { isLong, TextBlock, written } from './text';

const WAYS = [
  { value: 'diff', name: 'Diff' },
  { value: 'sides', name: 'Side by side' },
  { value: 'raw', name: 'Raw' },
] as const;

type Way = (typeof WAYS)[number]['value'];

interface DiffProps {
  before: unknown;
  after: unknown;
  /** What the two are called, such as `Expected` and `Output`. */
  names: readonly [string, string];
  /** How they are shown until somebody chooses. */
  way?: Way;
}

export function Diff({ before, after, names, way = 'diff' }: DiffProps) {
  const found = useMemo(() => difference(before, after), [before, after]);
  const [chosen, setChosen] = useState<Way>(way);
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2 text-xs">
        <Legend found={found} names={names} way={chosen} />
        <Choice label="How the difference is shown" value={chosen} options={WAYS} onChange={setChosen} />
      </div>
      {chosen === 'diff' && found.by !== undefined && <Whole found={found} />}
      {(chosen === 'sides' || (chosen === 'diff' && found.by === undefined)) && (
        <Sides found={found} names={names} />
      )}
      {chosen === 'raw' && <Raw texts={[asText(before), asText(after)]} names={names} />}
    </div>
  );
}

/** What the marks of a difference mean, or that there is none. */
function Legend({ found, names, way }: { found: Difference; names: DiffProps['names']; way: Way }) {
  if (found.isEqual) return <p className="text-good">Both are the same.</p>;
  if (found.by === undefined) return <p className="text-muted">Too large, or too different, for a diff.</p>;
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

const GROUND =
  'rounded-md border border-line bg-sunken/50 px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]';

function Whole({ found }: { found: Difference }) {
  // It may be of any length.
  if (found.isEqual) {
    return (
      <TextBlock isCode={found.isStructure} className={GROUND}>
        {found.after}
      </TextBlock>
    );
  }
  return <Parts parts={found.parts} isCode={found.isStructure} label="Difference" />;
}

function Sides({ found, names }: { found: Difference; names: DiffProps['names'] }) {
  if (found.by === undefined || found.isEqual) {
    return <Raw texts={[found.before, found.after]} names={names} />;
  }
  const without = (kind: Part['kind']) => found.parts.filter((part) => part.kind !== kind);
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Side name={names[0]}>
        <Parts parts={without('added')} isCode={found.isStructure} label={names[0]} />
      </Side>
      <Side name={names[1]}>
        <Parts parts={without('removed')} isCode={found.isStructure} label={names[1]} />
      </Side>
    </div>
  );
}

function Side({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 font-medium text-muted text-xs">{name}</p>
      {children}
    </div>
  );
}

/** The parts of a difference; long ones scroll in their place. */
function Parts({ parts, isCode, label }: { parts: Part[]; isCode: boolean; label: string }) {
  const long = isLong(parts.map((part) => part.text).join(''));
  const text = parts.map((part, place) => {
    const { element: Element, look } = MARKS[part.kind];
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no names but their places
      <Element key={place} className={look}>
        {written(part.text)}
      </Element>
    );
  });
  const look = clsx(GROUND, isCode && 'font-mono text-xs/5', long && 'max-h-96 overflow-y-auto');
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

function Raw({ texts, names }: { texts: [string, string]; names: DiffProps['names'] }) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {names.map((name, side) => (
        <Side key={name} name={name}>
          <TextBlock className={GROUND}>{texts[side] ?? ''}</TextBlock>
        </Side>
      ))}
    </div>
  );
}
