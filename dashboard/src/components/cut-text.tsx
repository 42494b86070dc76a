// A name that is cut in the middle if it lacks space: names often differ at their end.
import clsx from 'clsx';
import { escapeHidden } from '../lib/texts';
import { renderText } from './text';

/** Shorter names are not divided. */
const MIN_LENGTH = 10;
/** The number of characters that stay at the end; of a short name, the second half. */
const TAIL_LENGTH = 9;

export function CutText({ children: text, className }: { children: string; className?: string }) {
  const characters = Array.from(text);
  const title = escapeHidden(text);
  const tail = Math.min(TAIL_LENGTH, Math.floor(characters.length / 2));
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
      {/* Not `truncate`, which drops a space where the name is divided. */}
      <span aria-hidden="true" className="overflow-hidden text-ellipsis">
        {renderText(characters.slice(0, -tail).join(''))}
      </span>
      <span aria-hidden="true" className="shrink-0">
        {renderText(characters.slice(-tail).join(''))}
      </span>
    </bdi>
  );
}
