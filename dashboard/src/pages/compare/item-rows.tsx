// The row of an item with its changes, and its details when expanded.
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import type { Ref } from 'react';
import type { ComparedItem, ComparedRun } from '../../api/types';
import { Badge } from '../../components/badge';
import { ReplayIcon } from '../../components/replay-mark';
import { Text } from '../../components/text';
import { formatDuration } from '../../lib/format';
import { summarizeInput } from '../../lib/item-input';
import { itemMark } from '../../lib/traffic';
import { ItemChanges } from './item-changes';
import { ItemDetail } from './item-detail';
import { LETTERS, RunLetter } from './run-letter';

interface ItemRowsProps {
  ref: Ref<HTMLTableSectionElement>;
  index: number;
  item: ComparedItem;
  runs: ComparedRun[];
  evaluator: string;
  isOpen: boolean;
  onToggle: () => void;
}

export function ItemRows({ ref, index, item, runs, evaluator, isOpen, onToggle }: ItemRowsProps) {
  const others = runs.slice(1);
  return (
    <tbody
      ref={ref}
      data-index={index}
      className={clsx('border-line border-t max-lg:block', isOpen && 'bg-sunken/40')}
    >
      <tr
        aria-rowindex={index + 2}
        className="align-top hover:bg-sunken/60 max-lg:flex max-lg:flex-col max-lg:gap-2 max-lg:py-2.5"
      >
        <th scope="row" className="py-2.5 pr-2 font-normal max-lg:p-0">
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={onToggle}
            className="flex w-full min-w-0 items-start gap-1.5 rounded text-left"
          >
            <ChevronRight
              aria-hidden="true"
              className={clsx(
                'mt-0.5 size-4 shrink-0 text-muted transition-transform',
                isOpen && 'rotate-90',
              )}
            />
            <span className="min-w-0 grow">
              <span className="flex items-center gap-2">
                <span className="truncate font-medium font-mono text-xs/5">
                  {item.key.trim() === '' ? <em>empty key</em> : <Text>{item.key}</Text>}
                </span>
                <ItemBadges item={item} />
              </span>
              <span className="block truncate text-muted text-xs/5">
                <Text>{summarizeInput(item.input)}</Text>
              </span>
            </span>
          </button>
        </th>
        {others.map((_, other) => (
          <td
            key={LETTERS[other + 1]}
            className="px-2 py-2.5 max-lg:flex max-lg:gap-2 max-lg:p-0 max-lg:pl-5.5"
          >
            {others.length > 1 && (
              <span className="lg:hidden">
                <RunLetter place={other + 1} />
              </span>
            )}
            <ItemChanges item={item} other={other} evaluator={evaluator} />
          </td>
        ))}
        <td className="py-2.5 pl-2 text-right text-muted text-xs/5 tabular-nums max-lg:p-0 max-lg:pl-5.5 max-lg:text-left">
          <Latencies item={item} />
        </td>
      </tr>
      {isOpen && (
        <tr className="max-lg:block">
          <td colSpan={others.length + 2} className="pb-4 max-lg:block">
            <ItemDetail item={item} runs={runs} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** Marks an item that is missing in a run or whose input changed. */
function ItemBadges({ item }: { item: ComparedItem }) {
  const present = item.outputs.flatMap((output, place) => (output === null ? [] : [LETTERS[place]]));
  return (
    <>
      {present.length < item.outputs.length && <Badge tone="warn">Only in {present.join(' and ')}</Badge>}
      {item.contentChanged && <Badge tone="warn">Input changed</Badge>}
    </>
  );
}

function Latencies({ item: { outputs } }: { item: ComparedItem }) {
  return outputs.map((output, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: runs are identified by their place
    <span key={place} className="whitespace-nowrap">
      {place > 0 && ' → '}
      <ReplayIcon {...itemMark(output?.traffic)} />
      {output === null ? '–' : formatDuration(output.latencyMs)}
    </span>
  ));
}
