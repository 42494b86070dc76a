// The entry point of the page.
import './api/write-token';

import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router';
import { ApiError } from './api/client';
import { LiveProvider } from './api/events';
import { SessionProvider } from './api/session';
import { renderSync } from './lib/render-sync';
import { router } from './router';
import './styles.css';

const MAX_RETRIES = 2;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Server events invalidate changed data.
      staleTime: 30_000,
      retry: (failures, error) => failures < MAX_RETRIES && error instanceof ApiError && error.status === 0,
    },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element `root`');
createRoot(root).render(
  <StrictMode>
    {/* The content security policy allows no style elements. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <SessionProvider>
          <LiveProvider>
            <RouterProvider router={router} flushSync={renderSync} />
          </LiveProvider>
        </SessionProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
