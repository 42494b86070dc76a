// What is shown in place of a page that could not be drawn.
import { useRouteError } from 'react-router';
import { ErrorMessage } from '../components/error-message';

export function ErrorPage() {
  const error = useRouteError();
  return (
    <ErrorMessage
      title="This page could not be shown"
      error={error}
      onRetry={() => window.location.reload()}
    />
  );
}
