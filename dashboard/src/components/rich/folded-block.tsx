// Long content, folded to its beginning.
import clsx from 'clsx';
import { type ReactNode, useId, useState } from 'react';
import { formatCount } from '../../lib/format';

/** Longer texts are collapsed. */
const COLLAPSED_CHARACTERS = 1200;
const COLLAPSED_LINES = 16;
/** The maximum number of characters rendered. */
const MAX_CHARACTERS = 200_000;

export const isLong = (text: string) =>
  text.length > COLLAPSED_CHARACTERS || text.split('\n', COLLAPSED_LINES + 1).length > COLLAPSED_LINES;

interface FoldedBlockProps {
  text: string;
  /** Whether to use a monospaced font. */
  isCode?: boolean;
  className?: string;
  /** Renders the part of the text that is shown. */
  children: (shown: string) => ReactNode;
}

export function FoldedBlock({ text, isCode = false, className, children }: FoldedBlockProps) {
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
        {children(shown)}
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
