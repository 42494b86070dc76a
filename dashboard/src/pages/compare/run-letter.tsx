// The letter by which a run is known on the page of a comparison: A is the baseline.
import clsx from 'clsx';

export const LETTERS = ['A', 'B', 'C'] as const;

/** What a run is called in sentences: `Baseline`, `Run B`. */
export const runLabel = (place: number) => (place === 0 ? 'Baseline' : `Run ${LETTERS[place] ?? place}`);

/** The same within a sentence: `the baseline`, `run B`. */
export const runInSentence = (place: number) =>
  place === 0 ? 'the baseline' : `run ${LETTERS[place] ?? place}`;

const LOOKS = [
  'bg-sunken text-muted ring-1 ring-line ring-inset',
  'bg-accent-soft text-accent',
  'bg-warn-soft text-warn',
];

export function RunLetter({ place }: { place: number }) {
  return (
    <span
      className={clsx(
        'inline-flex size-5 shrink-0 items-center justify-center rounded font-semibold text-xs',
        LOOKS[place],
      )}
    >
      {LETTERS[place]}
    </span>
  );
}
