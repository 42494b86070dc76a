// Highlights code. Loaded on first use.
import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { ReactNode } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import { renderText } from '../text';

const lowlight = createLowlight({
  bash,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});

/** Longer code is shown without colours: highlighting would hold up the page. */
const MAX_CHARACTERS = 100_000;

/** Code with its tokens coloured. An unknown language, or too much of it, is shown as plain text. */
export function highlighted(code: string, language: string): ReactNode {
  if (code.length > MAX_CHARACTERS || !lowlight.registered(language)) return renderText(code);
  return toJsxRuntime(lowlight.highlight(language, code), {
    Fragment,
    jsx,
    jsxs,
    components: {
      span: ({ className, children }) => (
        <span className={className}>{typeof children === 'string' ? renderText(children) : children}</span>
      ),
    },
  });
}

export default highlighted;
