// Markdown of agents, rendered without HTML, and without anything that loads from elsewhere. Loaded on first use.
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import Markdown, { type Components, defaultUrlTransform } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { splitHidden } from '../../lib/texts';
import { highlighted } from './highlight';
import { MARKDOWN_LOOK } from './markdown-look';

const PLUGINS = [remarkGfm];

/** Schemes of links that open outside of the page. */
const EXTERNAL = /^(https?|mailto):/i;

const COMPONENTS: Components = {
  // A text may pretend to lead elsewhere, so the address is shown beside it.
  a: ({ href, children }) =>
    href !== undefined && EXTERNAL.test(href) ? (
      <ExternalLink address={href}>{children}</ExternalLink>
    ) : (
      <span title={href}>{children}</span>
    ),
  // An image from elsewhere would tell its server who reads what, so only a link to it is shown.
  img: ({ alt, src }) => <Image address={typeof src === 'string' ? src : ''} text={alt ?? ''} />,
  pre: ({ children }) => <pre>{children}</pre>,
  code: ({ className, children }) => {
    const language = /language-([\w+-]+)/.exec(className ?? '')?.[1];
    const text = String(children);
    return <code>{language === undefined ? children : highlighted(text.replace(/\n$/, ''), language)}</code>;
  },
  // A task list is not a form.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'} </span>,
};

/** A link that leaves the page without telling where it was, followed by its address unless that is its text. */
function ExternalLink({ address, children }: { address: string; children: ReactNode }) {
  return (
    <>
      <a href={address} target="_blank" rel="noopener noreferrer nofollow">
        <InLink value={true}>{children}</InLink>
      </a>
      {children !== address && <span className="text-muted"> ({address})</span>}
    </>
  );
}

/** An image in the text; for one from elsewhere, its description and address. */
function Image({ address, text }: { address: string; text: string }) {
  const isInLink = useContext(InLink);
  if (isEmbeddedImage(address)) return <img src={address} alt={text} />;
  const isLink = EXTERNAL.test(address) && !isInLink;
  return (
    <span className="text-muted" title="Images from elsewhere are not loaded">
      [image: {text || 'without a description'}
      {address !== '' && ', '}
      {isLink ? <ExternalLink address={address}>{address}</ExternalLink> : address}]
    </span>
  );
}

/** Whether the content is that of a link, which cannot have another one in it. */
const InLink = createContext(false);

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
