// The routes. Each page is loaded on first use.
import { createBrowserRouter, redirect } from 'react-router';
import { experimentUrl } from './lib/addresses';
import { redirectCompare } from './lib/former-comparison';
import { ErrorPage } from './shell/error-page';
import { NotFound } from './shell/not-found';
import type { PageLayout } from './shell/page-layout';
import { Shell } from './shell/shell';

const FILLS_WINDOW: PageLayout = { fillsWindow: true };

/** To the trends of the experiment, with the same filters. */
function redirectTrends({ request }: { request: Request }) {
  const { searchParams } = new URL(request.url);
  const name = searchParams.get('experiment');
  if (name === null) return redirect('/');
  searchParams.delete('experiment');
  searchParams.delete('tab');
  const filters = searchParams.toString();
  return redirect(`${experimentUrl(name, 'trends')}${filters === '' ? '' : `&${filters}`}`);
}

export const router = createBrowserRouter([
  {
    element: <Shell />,
    HydrateFallback: () => null,
    children: [
      {
        errorElement: <ErrorPage />,
        children: [
          { index: true, lazy: () => import('./pages/experiments') },
          { path: 'experiments/:name', lazy: () => import('./pages/experiment') },
          { path: 'runs/:id', handle: FILLS_WINDOW, lazy: () => import('./pages/run') },
          { path: 'runs/:id/items/:key', lazy: () => import('./pages/run/item') },
          // The address of comparisons before they became a mode of the items table.
          {
            path: 'compare',
            element: null,
            loader: ({ request }) => redirect(redirectCompare(new URL(request.url).searchParams)),
          },
          { path: 'ranking', lazy: () => import('./pages/ranking') },
          { path: 'groups/:group', lazy: () => import('./pages/ranking') },
          // The address of the trends before they became a part of the experiment.
          { path: 'trends', loader: redirectTrends, element: null },
          { path: '*', element: <NotFound /> },
        ],
      },
    ],
  },
]);
