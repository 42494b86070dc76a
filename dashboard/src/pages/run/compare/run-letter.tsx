// The letters of the compared runs: A is the reference, B the run of the page.
import clsx from 'clsx';

export const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const;

/** What the first run is called: the baseline only if it is the saved one. */
export type ReferenceName = 'baseline' | 'reference';

/** `baseline`, `this run`, `run C`: a compared run within a sentence. */
export function runInSentence(place: number, reference: ReferenceName): string {
  if (place === 0) return reference;
  return place === 1 ? 'this run' : `run ${LETTERS[place] ?? place}`;
}

/** `Baseline`, `This run`, `Run C` */
export function runLabel(place: number, reference: ReferenceName): string {
  const name = runInSentence(place, reference);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

export function RunLetter({ place }: { place: number }) {
  return (
    <span
      className={clsx(
        'inline-flex size-5 shrink-0 items-center justify-center rounded font-semibold text-xs',
        place === 1 ? 'bg-accent-soft text-accent' : 'bg-sunken text-muted ring-1 ring-line ring-inset',
      )}
    >
      {LETTERS[place]}
    </span>
  );
}
