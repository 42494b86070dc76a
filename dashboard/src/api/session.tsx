// What this page may do: change things, or only read.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { getJsonWithToken } from './client';
import type { Session } from './types';
import { dropToken, keepToken, onTokenChange, setHandedOutToken } from './write-token';

/** The session; undefined until the server has answered. */
export const SessionContext = createContext<Session | undefined>(undefined);

const useSession = () => useContext(SessionContext);

/** Whether this page may change things. */
export const useCanWrite = () => useSession()?.canWrite === true;

/** Whether this page shows a remote store, whose runs nobody can change here: it has no actions. */
export const useIsRemote = () => useSession()?.reason === 'remoteStore';

export function SessionProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ['session'],
    queryFn: async ({ signal }) => {
      let session = await getJsonWithToken<Session>('/api/session', signal);
      if (session.canWrite) keepToken();
      else if (dropToken()) session = await getJsonWithToken<Session>('/api/session', signal);
      if (session.token != null) setHandedOutToken(session.token);
      return session;
    },
  });
  useEffect(() => onTokenChange(() => void client.invalidateQueries({ queryKey: ['session'] })), [client]);
  return <SessionContext value={data}>{children}</SessionContext>;
}

const HINTS: Record<NonNullable<Session['reason']>, string> = {
  noToken: 'Read-only. To make changes, open the link that cargo cobalt serve printed.',
  readOnly: 'Read-only, because the server was started with --read-only.',
  remoteStore: 'Read-only, because it shows the runs of a remote store.',
  writesNotAllowed: 'Read-only. To make changes, restart the server with --allow-writes.',
};

/** Why this page may only read, and what to do; undefined if it may write. */
export function useReadOnlyHint(): string | undefined {
  const session = useSession();
  if (session === undefined) return 'Checking whether you can make changes…';
  return session.canWrite ? undefined : HINTS[session.reason ?? 'noToken'];
}
