// An address that is none of the pages.
import { Link } from 'react-router';
import { Empty } from '../components/empty';

export function NotFound() {
  return (
    <Empty title="There is no such page">
      <Link to="/" className="text-accent underline">
        See all runs
      </Link>
    </Empty>
  );
}
