// What is shown in place of a page that could not be drawn.
import { useRouteError } from 'react-router';
import { Problem } from '../components/problem';

export function Broken() {
  const error = useRouteError();
  return (
    <Problem title="This page could not be shown" error={error} onRetry={() => window.location.reload()} />
  );
}
