// The rows of the items table: items, and the headings of groups.
import type { Column } from '@tanstack/react-table';
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import { memo } from 'react';
import type { ItemGroup, ItemRow } from '../../../api/types';
import { CutText } from '../../../components/cut-text';
import { formatCount, formatScore, pluralize } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import type { features } from './columns';
import { groupKey } from './lines';

export type ShownColumn = Column<typeof features, ItemRow>;

interface RowProps {
  line: number;
  /** Undefined while loading. */
  item: ItemRow | undefined;
  /** Replaced if a column is added, removed or moved. */
  columns: ShownColumn[];
  isOpen: boolean;
  isPinned: boolean;
  hasFiller: boolean;
}

/** Rendered again only if its item or the columns change. */
export const Row = memo(function Row({ line, item, columns, isOpen, isPinned, hasFiller }: RowProps) {
  return (
    <tr
      data-line={line}
      data-item={item?.key}
      aria-rowindex={line + 2}
      aria-current={isOpen ? 'true' : undefined}
      className="group/row h-(--row) cursor-pointer"
    >
      {columns.map(({ id, columnDef: { meta } }, place) => (
        <td
          key={id}
          className={clsx(
            'h-(--row) overflow-hidden border-line border-b bg-surface px-3 py-0 group-hover/row:bg-sunken group-focus-within/row:bg-sunken group-aria-[current=true]/row:bg-accent-soft',
            'group-data-[height=tall]/rows:py-2 group-data-[height=tall]/rows:align-top',
            meta?.isNumber && 'whitespace-nowrap text-right tabular-nums',
            place === 0 && isPinned && 'sticky left-0 z-1 border-r',
          )}
        >
          {item === undefined ? <span className="block h-3 w-2/3 rounded-sm bg-sunken" /> : meta?.cell(item)}
        </td>
      ))}
      {hasFiller && (
        <td className="border-line border-b bg-surface group-hover/row:bg-sunken group-focus-within/row:bg-sunken group-aria-[current=true]/row:bg-accent-soft" />
      )}
    </tr>
  );
});

interface GroupRowProps {
  line: number;
  group: ItemGroup;
  isOpen: boolean;
  columns: ShownColumn[];
  hasFiller: boolean;
  onToggle: (key: string) => void;
}

/** The value that the items of a group have. The smallest of very many groups are joined. */
const groupName = ({ value, joined = 0 }: ItemGroup) =>
  joined > 0 ? pluralize(joined, 'smaller group') : (value ?? 'No value');

/** The name and the counts of a group, and its mean scores in the columns of the evaluators. */
export const GroupRow = memo(function GroupRow(props: GroupRowProps) {
  const { line, group, isOpen, columns, hasFiller, onToggle } = props;
  const scores = columns.findIndex(({ columnDef }) => columnDef.meta?.evaluator !== undefined);
  const span = scores <= 0 ? columns.length : scores;
  return (
    <tr data-line={line} aria-rowindex={line + 2} className="h-10">
      <th
        scope="rowgroup"
        colSpan={span}
        className="border-line border-b bg-ground p-0 text-left font-normal"
      >
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => onToggle(groupKey(group))}
          className="sticky left-0 flex h-10 max-w-[min(100vw,48rem)] items-center gap-2 px-2 -outline-offset-2"
        >
          <ChevronRight
            aria-hidden="true"
            className={clsx('size-4 shrink-0 text-muted transition-transform', isOpen && 'rotate-90')}
          />
          <CutText className="font-semibold">{groupName(group)}</CutText>
          <span className="text-muted text-xs whitespace-nowrap tabular-nums">
            {pluralize(group.items, 'item')}
            {group.belowPassMark > 0 && (
              <span className="text-warn">, {formatCount(group.belowPassMark)} below</span>
            )}
            {group.errors > 0 && <span className="text-bad">, {pluralize(group.errors, 'error')}</span>}
          </span>
        </button>
      </th>
      {columns.slice(span).map(({ id, columnDef: { meta } }) => {
        const mean = meta?.evaluator === undefined ? undefined : getOwn(group.scores, meta.evaluator);
        return (
          <td key={id} className="border-line border-b bg-ground px-3 font-semibold tabular-nums">
            {mean !== undefined && <span title="Mean of the group">{formatScore(mean)}</span>}
          </td>
        );
      })}
      {hasFiller && <td className="border-line border-b bg-ground" />}
    </tr>
  );
});
