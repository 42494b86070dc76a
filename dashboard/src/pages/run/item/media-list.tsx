// The images and audio that an item names. Nothing is loaded from elsewhere.
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { buildUrl } from '../../../api/client';
import type { Execution, Item } from '../../../api/types';
import { ShowAll } from '../../../components/show-all';
import { Text } from '../../../components/text';
import { escapeHidden } from '../../../lib/texts';
import { type Media, mediaOf } from './media';
import { Section } from './section';

/** More are shown on demand. */
const SHOWN = 12;

interface MediaListProps {
  runId: string;
  item: Item;
  execution: Execution;
}

export function MediaList({ runId, item, execution }: MediaListProps) {
  const media = useMemo(() => mediaOf(item, execution), [item, execution]);
  const [isWhole, setWhole] = useState(false);
  if (media.length === 0) return null;
  const shown = isWhole ? media : media.slice(0, SHOWN);
  return (
    <Section title="Images and audio">
      <ul className="flex flex-wrap items-start gap-4">
        {shown.map((one) => (
          <li key={one.name} className="min-w-0 max-w-full">
            <Medium media={one} address={addressOf(runId, item.key, one)} />
          </li>
        ))}
      </ul>
      {shown.length < media.length && (
        <ShowAll count={media.length} noun="images and audio files" onClick={() => setWhole(true)} />
      )}
    </Section>
  );
}

const encode = encodeURIComponent;

const addressOf = (run: string, key: string, { source }: Media) =>
  'data' in source
    ? source.data
    : buildUrl(`/api/runs/${encode(run)}/items/${encode(key)}/media`, { path: source.path });

function Medium({ media: { name, kind, source }, address }: { media: Media; address: string }) {
  const [hasFailed, setFailed] = useState(false);
  const fail = () => setFailed(true);
  const title = 'data' in source ? name : source.path;
  return (
    <figure className="flex min-w-0 flex-col gap-1">
      {hasFailed ? (
        <Missing address={address} isFile={'path' in source} />
      ) : kind === 'image' ? (
        <img
          src={address}
          alt={escapeHidden(title)}
          loading="lazy"
          decoding="async"
          onError={fail}
          className="max-h-96 min-h-8 min-w-8 max-w-full rounded-md border border-line object-contain"
        />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: files of users have no captions
        <audio
          controls
          preload="none"
          src={address}
          onError={fail}
          aria-label={escapeHidden(title)}
          className="max-w-full"
        />
      )}
      <figcaption className="text-muted text-xs [overflow-wrap:anywhere]">
        <Text>{name}</Text>
        {'path' in source && (
          <>
            {': '}
            <Text>{source.path}</Text>
          </>
        )}
      </figcaption>
    </figure>
  );
}

/** Why a file cannot be shown. Its element does not say why, so the server is asked again. */
function Missing({ address, isFile }: { address: string; isFile: boolean }) {
  const { data } = useQuery({
    queryKey: ['media', address],
    queryFn: ({ signal }) => reasonOf(address, signal),
    enabled: isFile,
    staleTime: 0,
  });
  return (
    <p className="max-w-prose rounded-md border border-line border-dashed px-3 py-2 text-muted [overflow-wrap:anywhere]">
      {isFile
        ? (data ?? 'The file cannot be shown')
        : 'Your browser does not support this image or audio data'}
    </p>
  );
}

async function reasonOf(address: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(address, { signal });
  if (response.ok) return 'Your browser cannot show this file';
  const body: unknown = await response.json().catch(() => undefined);
  const hasError = typeof body === 'object' && body !== null && 'error' in body;
  return hasError ? String(body.error) : `The server responded with status ${response.status}.`;
}
