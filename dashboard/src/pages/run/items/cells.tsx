// The contents of the cells of the items table.
import clsx from 'clsx';
import { Link } from 'react-router';
import type { ItemRow } from '../../../api/types';
import { CutText } from '../../../components/cut-text';
import { ReplayIcon } from '../../../components/replay-mark';
import { RetryMark } from '../../../components/retry-mark';
import { Score } from '../../../components/score';
import { Text } from '../../../components/text';
import { ItemVerdict } from '../../../components/verdict';
import { formatCost, formatDuration, formatNumber } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { itemPage } from '../../../lib/item-addresses';
import { escapeHidden, toText } from '../../../lib/texts';
import { itemMark } from '../../../lib/traffic';
import { ItemPresence, ScoreChange } from '../compare/score-change';

/** A link to an item. A click anywhere in its row follows it. An item that only another run has opens there. */
export function ItemLink({ item, to }: { item: ItemRow; to: string }) {
  const recorded = itemMark(item.traffic);
  const other = item.isMissing ? item.compared?.find((one) => one !== null) : undefined;
  return (
    <Link
      to={other == null ? to : itemPage(other.id, item.key)}
      preventScrollReset
      title={escapeHidden(recorded === undefined ? item.key : `${item.key}\n${recorded.explanation}`)}
      className="flex min-w-0 items-baseline rounded-sm font-medium focus-visible:-outline-offset-2"
    >
      <CutText>{item.name}</CutText>
      {item.runs > 1 && (
        <span className="ml-1 shrink-0 font-normal text-muted text-xs" title={`${item.runs} trials`}>
          ×{item.runs}
        </span>
      )}
    </Link>
  );
}

export function Status({ item }: { item: ItemRow }) {
  if (item.isMissing) return <span className="text-muted">Not in this run</span>;
  return (
    <span className="whitespace-nowrap">
      <ItemVerdict row={item} />
      <RetryMark attempts={item.retried} />
      <ItemPresence item={item} />
    </span>
  );
}

/** A text on one line, or on four in a tall row. */
export function Preview({ text, tone = 'text-muted' }: { text: string | null | undefined; tone?: string }) {
  return (
    <span
      className={clsx(
        'block truncate group-data-[height=tall]/rows:line-clamp-4 group-data-[height=tall]/rows:whitespace-pre-line group-data-[height=tall]/rows:[overflow-wrap:anywhere]',
        tone,
      )}
      dir="auto"
    >
      {text != null && <Text>{text}</Text>}
    </span>
  );
}

export function Output({ item }: { item: ItemRow }) {
  if (item.output != null) return <Preview text={item.output} />;
  return <Preview text={item.error} tone="text-bad" />;
}

/** A score, and its change against the reference if there is one. */
export function ScoreCell({ item, evaluator }: { item: ItemRow; evaluator: string }) {
  const value = getOwn(item.scores, evaluator);
  return (
    <span className="flex items-center gap-2 whitespace-nowrap">
      <ScoreValue item={item} evaluator={evaluator} value={value} />
      <ScoreChange item={item} evaluator={evaluator} />
    </span>
  );
}

function ScoreValue({
  item,
  evaluator,
  value,
}: {
  item: ItemRow;
  evaluator: string;
  value: number | undefined;
}) {
  if (value === undefined && item.notApplicable?.includes(evaluator))
    return (
      <span className="text-muted" title="The evaluator does not apply to this item">
        n/a
      </span>
    );
  if (value === undefined && item.evalErrors.includes(evaluator))
    return <span className="text-bad">no score</span>;
  return <Score value={value} isBelowPassMark={item.low.includes(evaluator)} />;
}

export function Latency({ item }: { item: ItemRow }) {
  if (item.isMissing) return <None />;
  return (
    <>
      <ReplayIcon {...itemMark(item.traffic)} />
      {formatDuration(item.latencyMs)}
    </>
  );
}

export function Cost({ item }: { item: ItemRow }) {
  if (item.cost == null) return <None />;
  return (
    <>
      <ReplayIcon {...itemMark(item.traffic)} />
      {formatCost(item.cost)}
    </>
  );
}

export const None = () => <span className="text-muted">–</span>;

/** The value of a field of the input, the metadata or the metrics. */
export function FieldValue({ item, column }: { item: ItemRow; column: string }) {
  const value = getOwn(item.values, column);
  if (value === undefined || value === null) return <None />;
  if (typeof value === 'number') return formatNumber(value);
  return <Preview text={toText(value)} />;
}
