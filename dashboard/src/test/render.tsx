// Renders a page with its router and providers.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ComponentType } from 'react';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { LiveContext } from '../api/events';
import { SessionContext } from '../api/session';
import type { LiveRun, Session } from '../api/types';
import { renderSync } from '../lib/render-sync';

interface PageOptions {
  /** The initial URL. */
  at: string;
  /** The route pattern of the page; matches every URL by default. */
  path?: string;
  /** The unfinished runs of the latest event; undefined before the first event. */
  live?: LiveRun[];
  isConnected?: boolean;
  /** What the page may do; by default it only reads. */
  session?: Session;
}

/** Renders `Page`. Other URLs show an empty page; `router.state.location` has the current URL. */
export function renderPage(
  Page: ComponentType,
  { at, path = '*', live, isConnected = true, session }: PageOptions,
) {
  const pages = path === '*' ? [] : [{ path: '*', element: null }];
  const router = createMemoryRouter([{ path, element: <Page /> }, ...pages], { initialEntries: [at] });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const rendered = render(
    <QueryClientProvider client={client}>
      <SessionContext value={session ?? { canWrite: false, reason: 'noToken' }}>
        <LiveContext value={{ isConnected, hasReceived: live !== undefined, runs: live ?? [] }}>
          <RouterProvider router={router} flushSync={renderSync} />
        </LiveContext>
      </SessionContext>
    </QueryClientProvider>,
  );
  return { ...rendered, router, client, user: userEvent.setup() };
}
