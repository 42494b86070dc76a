// The letters of the compared runs. Runs B and C are compared with run A.
import clsx from 'clsx';

export const LETTERS = ['A', 'B', 'C'] as const;

/** `Run A` */
export const runLabel = (place: number) => `Run ${LETTERS[place] ?? place}`;

/** `run A`, for use within a sentence. */
export const runInSentence = (place: number) => `run ${LETTERS[place] ?? place}`;

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
