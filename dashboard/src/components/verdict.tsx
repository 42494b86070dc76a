// The verdict on a run or an item, as a badge.
import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleX,
  Clock,
  LoaderCircle,
} from 'lucide-react';
import type { ReactNode } from 'react';
import type { ItemRow, LiveRun, RunVerdict } from '../api/types';
import { Badge, type Tone } from './badge';

interface BadgeLook {
  tone: Tone;
  icon: ReactNode;
  label: string;
}

/** The verdicts on runs, and the states of unfinished ones. */
export const RUN_VERDICTS: Record<RunVerdict | LiveRun['state'], BadgeLook> = {
  passed: { tone: 'good', icon: <CircleCheck />, label: 'Passed' },
  failed: { tone: 'bad', icon: <CircleX />, label: 'Failed' },
  error: { tone: 'bad', icon: <CircleAlert />, label: 'Error' },
  partial: { tone: 'plain', icon: <CircleDashed />, label: 'Partial' },
  running: { tone: 'accent', icon: <LoaderCircle className="animate-spin" />, label: 'Running' },
  'cut-off': { tone: 'warn', icon: <CirclePause />, label: 'Interrupted' },
  finished: { tone: 'good', icon: <CircleCheck />, label: 'Finished' },
};

/** The verdict on a run; the state of an unfinished run. */
export function Verdict({ verdict }: { verdict: RunVerdict | LiveRun['state'] }) {
  const { tone, icon, label } = RUN_VERDICTS[verdict];
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}

/** The badge of an item, by the most severe problem. */
function itemBadge(row: Pick<ItemRow, 'status' | 'passed' | 'evalErrors'>): BadgeLook {
  if (row.status === 'error') return { tone: 'bad', icon: <CircleAlert />, label: 'Error' };
  if (row.status === 'timeout') return { tone: 'bad', icon: <Clock />, label: 'Timeout' };
  if (row.evalErrors.length > 0) return { tone: 'bad', icon: <CircleAlert />, label: 'Scoring error' };
  if (!row.passed) return { tone: 'warn', icon: <CircleDashed />, label: 'Below pass mark' };
  return { tone: 'good', icon: <CircleCheck />, label: 'Passed' };
}

export function ItemVerdict({ row }: { row: Parameters<typeof itemBadge>[0] }) {
  const { tone, icon, label } = itemBadge(row);
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}
