// Shows the rest of a list that is cut.
import { formatCount } from '../lib/format';

interface ShowAllProps {
  /** The length of the whole list. */
  count: number;
  /** What is in the list, in the plural. */
  noun: string;
  onClick: () => void;
}

export function ShowAll({ count, noun, onClick }: ShowAllProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="mt-2 self-start rounded font-medium text-accent text-xs hover:underline"
    >
      Show all {formatCount(count)} {noun}
    </button>
  );
}
