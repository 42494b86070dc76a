// Coloured labels.
import clsx from 'clsx';
import type { ReactNode } from 'react';
import { Text } from './text';

export type Tone = 'good' | 'bad' | 'warn' | 'accent' | 'plain';

const TONES: Record<Tone, string> = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  accent: 'bg-accent-soft text-accent',
  plain: 'bg-sunken text-muted',
};

/** The label carries the meaning; colour and icon repeat it. */
export function Badge({
  tone = 'plain',
  icon,
  children,
}: {
  tone?: Tone;
  icon?: ReactNode;
  children: ReactNode;
}) {
  return (
    <span
      className={clsx(
        'inline-flex items-center gap-1 rounded-full px-2 py-0.5 font-medium text-xs whitespace-nowrap [&_svg]:size-3.5',
        TONES[tone],
      )}
    >
      {icon}
      {children}
    </span>
  );
}

/** A tag of a run. */
export function Tag({ children }: { children: string }) {
  return (
    <span className="inline-block max-w-40 truncate rounded border border-line px-1.5 text-muted text-xs">
      <Text>{children}</Text>
    </span>
  );
}
