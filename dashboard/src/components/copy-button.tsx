// Puts a text on the clipboard.
import { Check, Copy as CopyIcon } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { IconButton } from './button';

const FEEDBACK_MS = 1500;

interface CopyButtonProps {
  text: string;
  label: string;
  /** What stands for what is copied, where there are several beside each other. */
  icon?: ReactNode;
}

export function CopyButton({ text, label, icon = <CopyIcon /> }: CopyButtonProps) {
  const [state, setState] = useState<'ready' | 'done' | 'refused'>('ready');
  useEffect(() => {
    if (state === 'ready') return;
    const timer = setTimeout(() => setState('ready'), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [state]);

  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState('done'),
      () => setState('refused'),
    );
  return (
    <>
      <IconButton label={label} onClick={copy}>
        {state === 'done' ? <Check className="text-good" /> : icon}
      </IconButton>
      <span role="status" className="sr-only">
        {state === 'done' && 'Copied'}
        {state === 'refused' && 'The browser does not let this page copy'}
      </span>
    </>
  );
}
