// The items that asked the model something else than in the reference.
import type { Comparison } from '../../../api/types';
import { Text } from '../../../components/text';
import { formatCount, pluralize } from '../../../lib/format';

/** The number of diverged items that the note names. */
const NAMED = 5;

/** All diverged items, if there are more than the note names. */
export function DivergedItems({ asked }: { asked: Comparison['asked'] }) {
  if (!asked || asked.diverged.length <= NAMED) return null;
  const { items, same, diverged } = asked;
  const missing = items - same - diverged.length;
  return (
    <details className="mt-2 rounded-md border border-line">
      <summary className="cursor-pointer px-3 py-1.5 text-xs">
        {pluralize(items - same, 'diverged item')}
      </summary>
      <ul
        className="max-h-72 overflow-y-auto border-line border-t px-3 py-1.5 text-xs"
        aria-label="Diverged items"
      >
        {diverged.map(({ key, message }) => (
          <li key={key} className="py-0.5 [overflow-wrap:anywhere]">
            <span className="font-mono">
              <Text>{key}</Text>
            </span>
            <span className="text-muted">
              {' at '}
              {typeof message === 'number'
                ? `message ${formatCount(message)}`
                : 'the model, the tools or the settings'}
            </span>
          </li>
        ))}
        {missing > 0 && <li className="py-0.5 text-muted">and {formatCount(missing)} more</li>}
      </ul>
    </details>
  );
}
