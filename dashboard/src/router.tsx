// The routes. Each page is loaded on first use.
import type { ComponentType } from 'react';
import { createBrowserRouter, redirect } from 'react-router';
import { Imported } from './components/imported';
import { experimentUrl } from './lib/addresses';
import { redirectCompare } from './lib/former-comparison';
import { type Load, startImport } from './lib/use-import';
import { ErrorPage } from './shell/error-page';
import { NotFound } from './shell/not-found';
import type { PageLayout } from './shell/page-layout';
import { Shell } from './shell/shell';

const FILLS_WINDOW: PageLayout = { fillsWindow: true };

/** Loads a page before it is shown. The router would never try again after a failure, so that is left to the page. */
const page = (load: Load<{ Component: ComponentType }>) => async () => {
  await startImport(load);
  const element = (
    <Imported load={load} name="this page" isPage placeholder={null}>
      {({ Component }) => <Component />}
    </Imported>
  );
  return { element };
};

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
          { index: true, lazy: page(() => import('./pages/experiments')) },
          { path: 'experiments/:name', lazy: page(() => import('./pages/experiment')) },
          { path: 'runs/:id', handle: FILLS_WINDOW, lazy: page(() => import('./pages/run')) },
          { path: 'runs/:id/items/:key', lazy: page(() => import('./pages/run/item')) },
          // The address of comparisons before they became a mode of the items table.
          {
            path: 'compare',
            element: null,
            loader: ({ request }) => redirect(redirectCompare(new URL(request.url).searchParams)),
          },
          { path: 'ranking', lazy: page(() => import('./pages/ranking')) },
          { path: 'groups/:group', lazy: page(() => import('./pages/ranking')) },
          // The address of the trends before they became a part of the experiment.
          { path: 'trends', loader: redirectTrends, element: null },
          { path: '*', element: <NotFound /> },
        ],
      },
    ],
  },
]);
