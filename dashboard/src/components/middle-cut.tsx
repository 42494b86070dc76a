// A name on one line. A long one is cut in the middle, since the ends of names tell them apart.
import clsx from 'clsx';
import { renderText } from './text';

/** The end that is always shown, in characters. */
const END = 14;
/** Shorter names are cut at their end, if at all. */
const MIN_LENGTH = 2 * END;

export function MiddleCut({ children: name, className }: { children: string; className?: string }) {
  const characters = [...name.replace(/\s/g, ' ')];
  const middle = characters.length < MIN_LENGTH ? characters.length : characters.length - END;
  return (
    <bdi dir="auto" className={clsx('inline-flex min-w-0 max-w-full', className)}>
      <span className="truncate whitespace-pre">{renderText(characters.slice(0, middle).join(''))}</span>
      {middle < characters.length && (
        <span className="shrink-0 whitespace-pre">{renderText(characters.slice(middle).join(''))}</span>
      )}
    </bdi>
  );
}
