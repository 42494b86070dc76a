// Renders untrusted text: isolated from the surrounding text direction, and with invisible characters escaped.
import clsx from 'clsx';
import { useId, useState } from 'react';
import { formatCount } from '../lib/format';
import { splitHidden } from '../lib/texts';

/** Inline text. */
export function Text({ children }: { children: string }) {
  return <bdi dir="auto">{renderText(children)}</bdi>;
}

/** Renders a text and marks escaped invisible characters. */
export function renderText(text: string) {
  return splitHidden(text).map((piece, place) =>
    piece.isEscaped ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by their index
      <span key={place} className="rounded-sm bg-warn-soft font-mono text-warn" title="Invisible character">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
}

/** Longer texts are collapsed. */
const COLLAPSED_CHARACTERS = 1200;
const COLLAPSED_LINES = 16;
/** The maximum number of characters rendered. */
const MAX_CHARACTERS = 200_000;

export const isLong = (text: string) =>
  text.length > COLLAPSED_CHARACTERS || text.split('\n', COLLAPSED_LINES + 1).length > COLLAPSED_LINES;

interface TextBlockProps {
  children: string;
  /** Whether to use a monospaced font. */
  isCode?: boolean;
  className?: string;
}

/** Text of any length; a long one is collapsed. */
export function TextBlock({ children: text, isCode = false, className }: TextBlockProps) {
  const [isExpanded, setExpanded] = useState(false);
  const id = useId();
  const long = isLong(text);
  const shown = text.slice(0, isExpanded ? MAX_CHARACTERS : 4 * COLLAPSED_CHARACTERS);
  if (text === '') return <span className="text-muted italic">Empty</span>;
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
          Showing the first {formatCount(MAX_CHARACTERS)} of {formatCount(text.length)} characters. Copy it to
          see the rest.
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
