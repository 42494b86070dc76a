// Marks an item some of whose attempts were retried.
import { RotateCcw } from 'lucide-react';
import { pluralize } from '../lib/format';

interface RetryMarkProps {
  /** Renders nothing for 0. */
  attempts: number;
}

/** The mark as an icon, in words for screen readers. */
export function RetryMark({ attempts }: RetryMarkProps) {
  if (attempts === 0) return null;
  const text = `${pluralize(attempts, 'attempt')} retried`;
  return (
    <span title={text} className="ml-1.5 inline-block align-[-2px] text-warn">
      <RotateCcw className="size-3.5" aria-hidden="true" />
      <span className="sr-only"> ({text})</span>
    </span>
  );
}
