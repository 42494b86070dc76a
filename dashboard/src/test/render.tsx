// Draws a page as the browser does, with what pages rely on around it.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ComponentType } from 'react';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { LiveContext } from '../api/events';
import type { LiveRun } from '../api/types';
import { renderSync } from '../lib/render-sync';

interface PageOptions {
  /** The address that is open. */
  at: string;
  /** The pattern of the page's addresses, as in the router; every address, where it is not given. */
  path?: string;
  /** The runs that have not ended, as events tell them; undefined where none were heard yet. */
  live?: LiveRun[];
  isConnected?: boolean;
}

/** Draws `Page`; other addresses show an empty page. `router.state.location` is where one is. */
export function renderPage(Page: ComponentType, { at, path = '*', live, isConnected = true }: PageOptions) {
  const pages = path === '*' ? [] : [{ path: '*', element: null }];
  const router = createMemoryRouter([{ path, element: <Page /> }, ...pages], { initialEntries: [at] });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const drawn = render(
    <QueryClientProvider client={client}>
      <LiveContext value={{ isConnected, hasReceived: live !== undefined, runs: live ?? [] }}>
        <RouterProvider router={router} flushSync={renderSync} />
      </LiveContext>
    </QueryClientProvider>,
  );
  return { ...drawn, router, client, user: userEvent.setup() };
}
