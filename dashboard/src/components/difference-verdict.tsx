// The verdict on a difference.
import { ChevronsDown, ChevronsUp, CircleHelp, Equal } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Difference } from '../api/types';
import { Badge, type Tone } from './badge';

type Verdict = Difference['verdict'];

const LABELS: Record<Verdict, string> = {
  better: 'Improved',
  worse: 'Regressed',
  'within-noise': 'Within noise',
  inconclusive: 'Inconclusive',
};

const MEANINGS: Record<Verdict, string> = {
  better: 'An improvement beyond noise.',
  worse: 'A regression beyond noise.',
  'within-noise': 'No difference seen, and the run had enough power to detect a relevant one.',
  inconclusive: 'No difference seen, but there are too few items to rule out a relevant one.',
};

const LOOKS: Record<Verdict, { tone: Tone; icon: ReactNode }> = {
  better: { tone: 'good', icon: <ChevronsUp aria-hidden="true" /> },
  worse: { tone: 'bad', icon: <ChevronsDown aria-hidden="true" /> },
  'within-noise': { tone: 'plain', icon: <Equal aria-hidden="true" /> },
  inconclusive: { tone: 'warn', icon: <CircleHelp aria-hidden="true" /> },
};

export function DifferenceVerdict({ verdict }: { verdict: Verdict }) {
  const { tone, icon } = LOOKS[verdict];
  return (
    <span title={MEANINGS[verdict]}>
      <Badge tone={tone} icon={icon}>
        {LABELS[verdict]}
      </Badge>
    </span>
  );
}
