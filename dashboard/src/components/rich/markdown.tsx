// Markdown of agents, rendered without HTML, and without anything that loads from elsewhere. Loaded on first use.
import { useMemo } from 'react';
import Markdown, { type Components, defaultUrlTransform } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { splitHidden } from '../../lib/texts';
import { highlighted } from './highlight';
import { MARKDOWN_LOOK } from './markdown-look';

const PLUGINS = [remarkGfm];

/** Schemes of links that open outside of the page. */
const EXTERNAL = /^(https?|mailto):/i;

const COMPONENTS: Components = {
  // Links of agents are shown, with their target as the title. They leave the page without telling where it was.
  a: ({ href, children }) =>
    href !== undefined && EXTERNAL.test(href) ? (
      <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span title={href}>{children}</span>
    ),
  // An image from elsewhere would tell its server who reads what, so only its text and address are shown.
  img: ({ alt, src }) =>
    typeof src === 'string' && isEmbeddedImage(src) ? (
      <img src={src} alt={alt ?? ''} />
    ) : (
      <span className="text-muted" title="Images from elsewhere are not loaded">
        [image: {alt || 'without a description'}
        {typeof src === 'string' && src !== '' && `, ${src}`}]
      </span>
    ),
  pre: ({ children }) => <pre>{children}</pre>,
  code: ({ className, children }) => {
    const language = /language-([\w+-]+)/.exec(className ?? '')?.[1];
    const text = String(children);
    return <code>{language === undefined ? children : highlighted(text.replace(/\n$/, ''), language)}</code>;
  },
  // A task list is not a form.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'} </span>,
};

/** Whether an address holds the image itself, in a format without scripts. */
const isEmbeddedImage = (address: string) => /^data:image\/(png|jpeg|gif|webp|avif);base64,/i.test(address);

const transformUrl = (url: string) => (isEmbeddedImage(url) ? url : defaultUrlTransform(url));

export default function RenderedMarkdown({ children }: { children: string }) {
  // Invisible characters are escaped before, so that they are visible in the result as well.
  const text = useMemo(
    () =>
      splitHidden(children)
        .map((piece) => (piece.isEscaped ? `\\${piece.text}` : piece.text))
        .join(''),
    [children],
  );
  return (
    <div dir="auto" className={MARKDOWN_LOOK}>
      <Markdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={transformUrl}>
        {text}
      </Markdown>
    </div>
  );
}
