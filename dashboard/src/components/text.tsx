// What agents wrote, shown as text alone: apart from the text around it, and with nothing hidden in it.
import clsx from 'clsx';
import { useId, useState } from 'react';
import { formatCount } from '../lib/format';
import { splitHidden } from '../lib/texts';

/** A text in a line. */
export function Text({ children }: { children: string }) {
  return <bdi dir="auto">{renderText(children)}</bdi>;
}

/** The parts of a text; those that stand for hidden characters are marked. */
export function renderText(text: string) {
  return splitHidden(text).map((piece, place) =>
    piece.isEscaped ? (
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
const COLLAPSED_CHARACTERS = 1200;
const COLLAPSED_LINES = 16;
/** The most that is put into the page at a time. */
const MAX_CHARACTERS = 200_000;

export const isLong = (text: string) =>
  text.length > COLLAPSED_CHARACTERS || text.split('\n', COLLAPSED_LINES + 1).length > COLLAPSED_LINES;

interface TextBlockProps {
  children: string;
  /** Whether its letters are all as wide, as those of JSON are. */
  isCode?: boolean;
  className?: string;
}

/** A text of any length: a long one is folded until it is asked for. */
export function TextBlock({ children: text, isCode = false, className }: TextBlockProps) {
  const [isExpanded, setExpanded] = useState(false);
  const id = useId();
  const long = isLong(text);
  const shown = text.slice(0, isExpanded ? MAX_CHARACTERS : 4 * COLLAPSED_CHARACTERS);
  if (text === '') return <span className="text-muted italic">empty</span>;
  return (
    <div className={className}>
      <div
        id={id}
        dir="auto"
        className={clsx(
          'whitespace-pre-wrap [overflow-wrap:anywhere]',
          isCode && 'font-mono text-xs/5',
          long &&
            !isExpanded &&
            'max-h-60 overflow-hidden [mask-image:linear-gradient(black_75%,transparent)]',
        )}
      >
        {renderText(shown)}
        {isExpanded && text.length > MAX_CHARACTERS && ' …'}
      </div>
      {isExpanded && text.length > MAX_CHARACTERS && (
        <p className="mt-1 text-muted text-xs">
          The first {formatCount(MAX_CHARACTERS)} of {formatCount(text.length)} characters. Copy it to see the
          rest.
        </p>
      )}
      {long && (
        <button
          type="button"
          aria-expanded={isExpanded}
          aria-controls={id}
          onClick={() => setExpanded(!isExpanded)}
          className="mt-1 rounded font-medium text-accent text-xs hover:underline"
        >
          {isExpanded ? 'Show less' : `Show all ${formatCount(text.length)} characters`}
        </button>
      )}
    </div>
  );
}
