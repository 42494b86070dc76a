// Copies text to the clipboard.
import { Check, Copy as CopyIcon } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { IconButton } from './button';

const FEEDBACK_MS = 1500;

interface CopyButtonProps {
  text: string;
  label: string;
  /** Distinguishes several copy buttons next to each other. */
  icon?: ReactNode;
  /** Fits into a line of text. */
  isSmall?: boolean;
}

export function CopyButton({ text, label, icon = <CopyIcon />, isSmall = false }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [state]);

  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  return (
    <>
      <IconButton label={label} onClick={copy} className={isSmall ? 'size-7! [&_svg]:size-3.5!' : undefined}>
        {state === 'copied' ? <Check className="text-good" /> : icon}
      </IconButton>
      <span role="status" className="sr-only">
        {state === 'copied' && 'Copied'}
        {state === 'failed' && 'Copy failed: the browser denied access to the clipboard'}
      </span>
    </>
  );
}
