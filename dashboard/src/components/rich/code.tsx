// A block of code, highlighted as soon as the highlighter is loaded.
import clsx from 'clsx';
import type { ReactNode } from 'react';
import { useImport } from '../../lib/use-import';
import { renderText } from '../text';
import { loadHighlighter } from './formatters';

interface CodeProps {
  children: string;
  /** The name of the language, such as `json`; plain text without one. */
  language?: string;
  className?: string;
}

/** Highlights code, for components that show a lot of it; plain text until the highlighter is loaded. */
export function useHighlight(): (code: string, language: string | undefined) => ReactNode {
  const highlight = useImport(loadHighlighter)?.default;
  return (code, language) =>
    highlight === undefined || language === undefined ? renderText(code) : highlight(code, language);
}

/** Highlighted code, inline. */
export function Highlighted({ children, language }: Pick<CodeProps, 'children' | 'language'>) {
  return useHighlight()(children, language);
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
