// What a difference comes to, in a word with its sign.
import { ChevronsDown, ChevronsUp, CircleHelp, Equal } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Difference } from '../api/types';
import { Badge, type Tone } from './badge';

type Verdict = Difference['verdict'];

/** As `cargo cobalt compare` says them. */
const LABELS: Record<Verdict, string> = {
  better: 'better',
  worse: 'worse',
  'within-noise': 'within noise',
  inconclusive: 'inconclusive',
};

/** What each verdict means. */
const MEANINGS: Record<Verdict, string> = {
  better: 'The other run is better, beyond noise.',
  worse: 'The other run is worse, beyond noise.',
  'within-noise': 'No difference was seen, and one that matters would have shown.',
  inconclusive: 'No difference was shown, and there are too few items to rule one out that matters.',
};

const LOOKS: Record<Verdict, { tone: Tone; icon: ReactNode }> = {
  better: { tone: 'good', icon: <ChevronsUp aria-hidden="true" /> },
  worse: { tone: 'bad', icon: <ChevronsDown aria-hidden="true" /> },
  'within-noise': { tone: 'plain', icon: <Equal aria-hidden="true" /> },
  inconclusive: { tone: 'warn', icon: <CircleHelp aria-hidden="true" /> },
};

export function DifferenceVerdict({ verdict: of }: { verdict: Verdict }) {
  const { tone, icon } = LOOKS[of];
  return (
    <span title={MEANINGS[of]}>
      <Badge tone={tone} icon={icon}>
        {LABELS[of]}
      </Badge>
    </span>
  );
}
