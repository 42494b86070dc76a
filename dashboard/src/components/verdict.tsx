// What became of a run, or of an item, in a word.
import { CircleAlert, CircleCheck, CircleDashed, CircleX, Clock, LoaderCircle, Scissors } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ItemRow, LiveRun, RunVerdict } from '../api/types';
import { Badge, type Tone } from './badge';

interface Look {
  tone: Tone;
  icon: ReactNode;
  word: string;
}

const RUNS: Record<RunVerdict | LiveRun['state'], Look> = {
  passed: { tone: 'good', icon: <CircleCheck />, word: 'Passed' },
  failed: { tone: 'bad', icon: <CircleX />, word: 'Failed' },
  error: { tone: 'bad', icon: <CircleAlert />, word: 'Error' },
  partial: { tone: 'plain', icon: <CircleDashed />, word: 'Partial' },
  running: { tone: 'accent', icon: <LoaderCircle className="animate-spin" />, word: 'Running' },
  'cut-off': { tone: 'warn', icon: <Scissors />, word: 'Cut off' },
  finished: { tone: 'good', icon: <CircleCheck />, word: 'Finished' },
};

/** The verdict on a run, or that there is none yet. */
export function Verdict({ of }: { of: RunVerdict | LiveRun['state'] }) {
  const { tone, icon, word } = RUNS[of];
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
}

/** What is to be said of an item: the gravest of it. */
export function itemLook(row: Pick<ItemRow, 'status' | 'passed' | 'evalErrors'>): Look {
  if (row.status === 'error') return { tone: 'bad', icon: <CircleAlert />, word: 'Error' };
  if (row.status === 'timeout') return { tone: 'bad', icon: <Clock />, word: 'Timeout' };
  if (row.evalErrors.length > 0) return { tone: 'bad', icon: <CircleAlert />, word: 'Not scored' };
  if (!row.passed) return { tone: 'warn', icon: <CircleDashed />, word: 'Below pass mark' };
  return { tone: 'good', icon: <CircleCheck />, word: 'Passed' };
}

export function ItemVerdict({ row }: { row: Parameters<typeof itemLook>[0] }) {
  const { tone, icon, word } = itemLook(row);
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
}
