// A name that is cut in the middle if it lacks space: names often differ at their end.
import clsx from 'clsx';
import { escapeHidden } from '../lib/texts';
import { renderText } from './text';

/** Shorter names are not divided. */
const MIN_LENGTH = 20;
/** The number of characters that stay at the end. */
const TAIL_LENGTH = 9;

export function CutText({ children: text, className }: { children: string; className?: string }) {
  const characters = Array.from(text);
  const title = escapeHidden(text);
  if (characters.length < MIN_LENGTH) {
    return (
      <bdi dir="auto" title={title} className={clsx('block min-w-0 truncate', className)}>
        {renderText(text)}
      </bdi>
    );
  }
  return (
    <bdi dir="auto" title={title} className={clsx('flex min-w-0 whitespace-pre', className)}>
      <span className="sr-only select-none">{title}</span>
      <span aria-hidden="true" className="truncate">
        {renderText(characters.slice(0, -TAIL_LENGTH).join(''))}
      </span>
      <span aria-hidden="true" className="shrink-0">
        {renderText(characters.slice(-TAIL_LENGTH).join(''))}
      </span>
    </bdi>
  );
}
