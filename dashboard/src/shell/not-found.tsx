// An address that is none of the pages.
import { Link } from 'react-router';
import { EmptyState } from '../components/empty-state';

export function NotFound() {
  return (
    <EmptyState title="There is no such page">
      <Link to="/" className="text-accent underline">
        See all runs
      </Link>
    </EmptyState>
  );
}
