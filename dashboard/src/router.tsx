// The routes. Each page is loaded on first use.
import { createBrowserRouter } from 'react-router';
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
          { path: 'compare', lazy: () => import('./pages/compare') },
          { path: 'ranking', lazy: () => import('./pages/ranking') },
          { path: 'groups/:group', lazy: () => import('./pages/ranking') },
          { path: 'trends', lazy: () => import('./pages/trends') },
          { path: '*', element: <NotFound /> },
        ],
      },
    ],
  },
]);
