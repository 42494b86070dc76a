// The remote store of `serve --remote`: its name in the header, and a warning if its list may be out of date.
import { useQuery } from '@tanstack/react-query';
import { Users } from 'lucide-react';
import { indexQuery } from '../api/queries';
import { Text } from '../components/text';
import { DateTime } from '../components/time';
import { escapeHidden } from '../lib/texts';

const useRemoteStore = () => useQuery(indexQuery()).data?.remote ?? undefined;

/** The store that the page shows; nothing if it shows the runs of the server's machine. */
export function RemoteStoreName() {
  const store = useRemoteStore();
  if (store === undefined) return null;
  return (
    <span
      className="flex min-w-0 items-center gap-1.5 rounded-full bg-accent-soft px-2.5 py-1 text-accent text-xs max-sm:hidden"
      title={`Runs of the remote store ${escapeHidden(store.url)}`}
    >
      <Users className="size-3.5 shrink-0" aria-hidden="true" />
      <span className="sr-only">Remote store</span>
      <span className="max-w-56 truncate">
        <Text>{store.url}</Text>
      </span>
    </span>
  );
}

/** Since when the store could not be synced, and why. */
export function RemoteStoreWarning() {
  const store = useRemoteStore();
  const failure = store?.failure;
  if (store == null || failure == null) return null;
  return (
    <p role="status" className="bg-warn-soft px-6 py-2 text-center text-warn [overflow-wrap:anywhere]">
      The list of runs could not be synced since <DateTime timestamp={failure.since} />
      {store.syncedAt != null && (
        <>
          ; it is as of <DateTime timestamp={store.syncedAt} />
        </>
      )}
      : <Text>{failure.message}</Text>
    </p>
  );
}
