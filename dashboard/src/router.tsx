// Which page an address shows. Each page is loaded when it is first asked for.
import { createBrowserRouter } from 'react-router';
import { Broken } from './shell/broken';
import { NotFound } from './shell/not-found';
import { Shell } from './shell/shell';

export const router = createBrowserRouter([
  {
    element: <Shell />,
    HydrateFallback: () => null,
    children: [
      {
        errorElement: <Broken />,
        children: [
          { index: true, lazy: () => import('./pages/runs') },
          { path: 'runs/:id', lazy: () => import('./pages/run') },
          { path: 'compare', lazy: () => import('./pages/compare') },
          { path: 'trends', lazy: () => import('./pages/trends') },
          { path: '*', element: <NotFound /> },
        ],
      },
    ],
  },
]);
