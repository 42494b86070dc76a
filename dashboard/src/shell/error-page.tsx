// Shown instead of a page that failed to render.
import { useRouteError } from 'react-router';
import { ErrorMessage } from '../components/error-message';

export function ErrorPage() {
  const error = useRouteError();
  return (
    <ErrorMessage title="Failed to show this page" error={error} onRetry={() => window.location.reload()} />
  );
}
