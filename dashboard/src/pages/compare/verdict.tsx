// What a difference comes to, in a word with its sign.
import { ChevronsDown, ChevronsUp, CircleHelp, Equal } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Difference } from '../../api/types';
import { Badge, type Tone } from '../../components/badge';
import { MEANINGS, VERDICTS } from './words';

const LOOKS: Record<Difference['verdict'], { tone: Tone; icon: ReactNode }> = {
  better: { tone: 'good', icon: <ChevronsUp aria-hidden="true" /> },
  worse: { tone: 'bad', icon: <ChevronsDown aria-hidden="true" /> },
  'within-noise': { tone: 'plain', icon: <Equal aria-hidden="true" /> },
  inconclusive: { tone: 'warn', icon: <CircleHelp aria-hidden="true" /> },
};

export function DifferenceVerdict({ of }: { of: Difference['verdict'] }) {
  const { tone, icon } = LOOKS[of];
  return (
    <span title={MEANINGS[of]}>
      <Badge tone={tone} icon={icon}>
        {VERDICTS[of]}
      </Badge>
    </span>
  );
}
