// Shown for an unknown URL.
import { Link } from 'react-router';
import { EmptyState } from '../components/empty-state';

export function NotFound() {
  return (
    <EmptyState title="Page not found">
      <Link to="/" className="text-accent underline">
        Show all runs
      </Link>
    </EmptyState>
  );
}
