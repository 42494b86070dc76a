// The verdict on a difference.
import clsx from 'clsx';
import { ChevronsDown, ChevronsUp, CircleHelp, Diff, Equal } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Difference } from '../api/types';
import { Badge, type Tone } from './badge';
import { Text } from './text';

type Verdict = Difference['verdict'];

export const DIFFERENCE_LABELS: Record<Verdict, string> = {
  better: 'Improved',
  worse: 'Regressed',
  changed: 'Changed',
  'within-noise': 'Within noise',
  inconclusive: 'Inconclusive',
};

/** Regressions first; what cannot be told from noise last. */
export const DIFFERENCE_ORDER: Verdict[] = ['worse', 'better', 'changed', 'inconclusive', 'within-noise'];

export const DIFFERENCE_MEANINGS: Record<Verdict, string> = {
  better: 'An improvement beyond noise.',
  worse: 'A regression beyond noise.',
  changed: 'A change beyond noise in a metric for which neither direction is better.',
  'within-noise': 'Any difference is negligible: the runs had enough power to detect a relevant one.',
  inconclusive: 'Too few items to tell whether there is a relevant difference.',
};

const LOOKS: Record<Verdict, { tone: Tone; icon: ReactNode }> = {
  better: { tone: 'good', icon: <ChevronsUp aria-hidden="true" /> },
  worse: { tone: 'bad', icon: <ChevronsDown aria-hidden="true" /> },
  changed: { tone: 'plain', icon: <Diff aria-hidden="true" /> },
  'within-noise': { tone: 'plain', icon: <Equal aria-hidden="true" /> },
  inconclusive: { tone: 'warn', icon: <CircleHelp aria-hidden="true" /> },
};

export function DifferenceVerdict({ verdict }: { verdict: Verdict }) {
  const { tone, icon } = LOOKS[verdict];
  return (
    <span title={DIFFERENCE_MEANINGS[verdict]}>
      <Badge tone={tone} icon={icon}>
        {DIFFERENCE_LABELS[verdict]}
      </Badge>
    </span>
  );
}

export const DIFFERENCE_COLOURS: Record<Verdict, string> = {
  better: 'text-good',
  worse: 'text-bad',
  changed: 'text-text',
  'within-noise': 'text-muted',
  inconclusive: 'text-warn',
};

/** The scores and metrics with a verdict, in one line: `Improved: tone, latency`. */
export function VerdictNames({ verdict, names }: { verdict: Verdict; names: string[] }) {
  return (
    <p className="[overflow-wrap:anywhere]">
      <span
        title={DIFFERENCE_MEANINGS[verdict]}
        className={clsx(
          'font-medium [&_svg]:mr-1 [&_svg]:inline [&_svg]:size-4',
          DIFFERENCE_COLOURS[verdict],
        )}
      >
        {LOOKS[verdict].icon}
        {DIFFERENCE_LABELS[verdict]}:
      </span>{' '}
      <Text>{names.join(', ')}</Text>
    </p>
  );
}
