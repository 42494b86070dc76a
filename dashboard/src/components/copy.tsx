// Puts a text on the clipboard.
import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from './button';

const SHOWN_MS = 1500;

export function Copy({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'ready' | 'done' | 'refused'>('ready');
  useEffect(() => {
    if (state === 'ready') return;
    const timer = setTimeout(() => setState('ready'), SHOWN_MS);
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
        {state === 'done' ? <Check className="text-good" /> : <CopyIcon />}
      </IconButton>
      <span role="status" className="sr-only">
        {state === 'done' && 'Copied'}
        {state === 'refused' && 'The browser does not let this page copy'}
      </span>
    </>
  );
}
