// Renders untrusted text: isolated from the surrounding text direction, and with invisible characters escaped.
import { splitHidden } from '../lib/texts';
import { FoldedBlock } from './rich/folded-block';

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

interface TextBlockProps {
  children: string;
  /** Whether to use a monospaced font. */
  isCode?: boolean;
  className?: string;
}

/** Text of any length; a long one is collapsed. */
export function TextBlock({ children: text, isCode, className }: TextBlockProps) {
  return (
    <FoldedBlock text={text} isCode={isCode} className={className}>
      {renderText}
    </FoldedBlock>
  );
}
