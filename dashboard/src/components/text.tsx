// What agents wrote, shown as text alone: apart from the text around it, and with nothing hidden in it.
import clsx from 'clsx';
import { useId, useState } from 'react';
import { count } from '../lib/format';
import { pieces } from '../lib/texts';

/** A text in a line. */
export function Text({ children }: { children: string }) {
  return <bdi dir="auto">{written(children)}</bdi>;
}

/** The parts of a text; those that stand for hidden characters are marked. */
export function written(text: string) {
  return pieces(text).map((piece, place) =>
    piece.isWrittenOut ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no names but their places
      <span key={place} className="rounded-sm bg-warn-soft font-mono text-warn" title="A hidden character">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
}

/** From how many characters, or lines, a text is folded. */
const FOLDED_CHARACTERS = 1200;
const FOLDED_LINES = 16;
/** The most that is put into the page at a time. */
const LARGEST = 200_000;

export const isLong = (text: string) =>
  text.length > FOLDED_CHARACTERS || text.split('\n', FOLDED_LINES + 1).length > FOLDED_LINES;

interface TextBlockProps {
  children: string;
  /** Whether its letters are all as wide, as those of JSON are. */
  isCode?: boolean;
  className?: string;
}

/** A text of any length: a long one is folded until it is asked for. */
export function TextBlock({ children: text, isCode = false, className }: TextBlockProps) {
  const [isWhole, setWhole] = useState(false);
  const id = useId();
  const long = isLong(text);
  const shown = text.slice(0, isWhole ? LARGEST : 4 * FOLDED_CHARACTERS);
  if (text === '') return <span className="text-muted italic">empty</span>;
  return (
    <div className={className}>
      <div
        id={id}
        dir="auto"
        className={clsx(
          'whitespace-pre-wrap [overflow-wrap:anywhere]',
          isCode && 'font-mono text-xs/5',
          long && !isWhole && 'max-h-60 overflow-hidden [mask-image:linear-gradient(black_75%,transparent)]',
        )}
      >
        {written(shown)}
        {isWhole && text.length > LARGEST && ' …'}
      </div>
      {isWhole && text.length > LARGEST && (
        <p className="mt-1 text-muted text-xs">
          The first {count(LARGEST)} of {count(text.length)} characters. Copy it to see the rest.
        </p>
      )}
      {long && (
        <button
          type="button"
          aria-expanded={isWhole}
          aria-controls={id}
          onClick={() => setWhole(!isWhole)}
          className="mt-1 rounded font-medium text-accent text-xs hover:underline"
        >
          {isWhole ? 'Show less' : `Show all ${count(text.length)} characters`}
        </button>
      )}
    </div>
  );
}
