// Shown for an unknown URL.
import { Link } from 'react-router';
import { buttonLook } from '../components/button';
import { EmptyState } from '../components/empty-state';

export function NotFound() {
  return (
    <EmptyState title="Page not found" isPage>
      <p>The address may be incomplete or out of date.</p>
      <Link to="/" className={buttonLook()}>
        Show the experiments
      </Link>
    </EmptyState>
  );
}
