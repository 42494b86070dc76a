// The routes. Each page is loaded on first use.
import { createBrowserRouter, redirect } from 'react-router';
import { redirectCompare } from './lib/compare-url';
import { ErrorPage } from './shell/error-page';
import { NotFound } from './shell/not-found';
import { type PageLayout, Shell } from './shell/shell';

const FILLS_WINDOW: PageLayout = { fillsWindow: true };

export const router = createBrowserRouter([
  {
    element: <Shell />,
    HydrateFallback: () => null,
    children: [
      {
        errorElement: <ErrorPage />,
        children: [
          { index: true, lazy: () => import('./pages/runs') },
          { path: 'runs/:id', handle: FILLS_WINDOW, lazy: () => import('./pages/run') },
          { path: 'runs/:id/items/:key', lazy: () => import('./pages/item') },
          {
            path: 'compare',
            loader: ({ request }) => redirect(redirectCompare(new URL(request.url).searchParams)),
          },
          { path: 'ranking', lazy: () => import('./pages/ranking') },
          { path: 'groups/:group', lazy: () => import('./pages/ranking') },
          { path: 'trends', lazy: () => import('./pages/trends') },
          { path: '*', element: <NotFound /> },
        ],
      },
    ],
  },
]);
