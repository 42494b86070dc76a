// Shows only the items that changed in compare mode, with their numbers.
import type { ItemsFilter } from '../../../api/queries';
import type { Items } from '../../../api/types';
import { SegmentedControl } from '../../../components/segmented-control';
import { formatCount, pluralize } from '../../../lib/format';
import type { ReferenceName } from './run-letter';

type Only = NonNullable<ItemsFilter['only']>;

const NAMES: Record<Only, string> = { regressed: 'Regressed', improved: 'Improved', changed: 'Changed' };

const ONLY = Object.keys(NAMES) as Only[];

interface ChangesFilterProps {
  /** Absent until the items are loaded. */
  counts: Items['counts'];
  only: Only | undefined;
  reference: ReferenceName;
  onChange: (changes: { only: string | undefined }) => void;
}

export function ChangesFilter({ counts, only, reference, onChange }: ChangesFilterProps) {
  const count = (name: Only) => (counts == null ? '' : ` ${formatCount(counts[name])}`);
  const unmatched = [
    ...(counts?.onlyHere ? [`${pluralize(counts.onlyHere, 'item')} not in the ${reference}`] : []),
    ...(counts?.onlyThere ? [`${pluralize(counts.onlyThere, 'item')} not in this run`] : []),
  ];
  return (
    <span className="flex flex-wrap items-center gap-2">
      <SegmentedControl<Only | 'all'>
        label="Changes"
        value={only ?? 'all'}
        options={[
          { value: 'all', name: 'All' },
          ...ONLY.map((name) => ({ value: name, name: `${NAMES[name]}${count(name)}` })),
        ]}
        onChange={(value) => onChange({ only: value === 'all' ? undefined : value })}
      />
      {unmatched.length > 0 && <span className="text-muted text-xs">{unmatched.join(', ')}</span>}
    </span>
  );
}
