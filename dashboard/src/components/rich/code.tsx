// A block of code, highlighted as soon as the highlighter is loaded.
import clsx from 'clsx';
import { useImport } from '../../lib/use-import';
import { renderText } from '../text';

const load = () => import('./highlight');

interface CodeProps {
  children: string;
  /** The name of the language, such as `json`; plain text without one. */
  language?: string;
  className?: string;
}

/** Highlighted code, inline. */
export function Highlighted({ children, language }: Pick<CodeProps, 'children' | 'language'>) {
  const highlight = useImport(load)?.default;
  if (highlight === undefined || language === undefined) return renderText(children);
  return highlight(children, language);
}

export function Code({ children, language, className }: CodeProps) {
  return (
    <pre
      className={clsx('whitespace-pre-wrap font-mono text-xs/5 [overflow-wrap:anywhere]', className)}
      dir="auto"
    >
      <code>
        <Highlighted language={language}>{children}</Highlighted>
      </code>
    </pre>
  );
}
