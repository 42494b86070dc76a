// The columns of the items table.
import { createColumnHelper, tableFeatures } from '@tanstack/react-table';
import { Link } from 'react-router';
import type { ItemRow } from '../../../api/types';
import { ReplayIcon } from '../../../components/replay-mark';
import { RetryMark } from '../../../components/retry-mark';
import { Score } from '../../../components/score';
import { Text } from '../../../components/text';
import { ItemVerdict } from '../../../components/verdict';
import { formatCost, formatCount, formatDuration } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { itemMark } from '../../../lib/traffic';
import { itemPage } from '../../item/addresses';
import type { ReferenceName } from '../compare/run-letter';
import { ItemPresence, ScoreChange } from '../compare/score-change';

/** The maximum number of score columns; the drawer has all scores. */
const MAX_SCORE_COLUMNS = 4;

export interface TableRow {
  /** The index among the matching items, from 0. */
  place: number;
  /** Undefined while loading. */
  item: ItemRow | undefined;
}

/** What compare mode adds. */
export interface ComparedColumns {
  /** The number of runs that are compared with the reference. */
  runs: number;
  reference: ReferenceName;
}

interface ColumnMeta {
  /** The server's sort key; absent if the column is not sortable. */
  sort?: string;
  /** The minimum width in pixels; the text columns share the remaining space. */
  width: number;
  isNumber?: boolean;
}

export const features = tableFeatures({ columnMeta: {} as ColumnMeta });
const helper = createColumnHelper<typeof features, TableRow>();

/** `itemAt` returns the URL of an item's drawer. */
export function columnsOf(
  evaluators: string[],
  itemAt: (key: string) => string,
  comparison: ComparedColumns | undefined,
) {
  /** The change of each score, for each of the runs that are compared with the reference. */
  const changeOf = (name: string) =>
    helper.display({
      id: `change:${name}`,
      header: () => (
        <>
          <span className="sr-only">Change of </span>
          <span aria-hidden="true">Δ </span>
          <Text>{name}</Text>
        </>
      ),
      meta: { sort: `change:${name}`, width: Math.max(110, 84 * (comparison?.runs ?? 0)) },
      cell: ({ row: { original } }) => original.item && <ScoreChange item={original.item} evaluator={name} />,
    });
  return [
    helper.display({
      id: 'index',
      header: '#',
      meta: { sort: 'index', width: 56, isNumber: true },
      cell: ({ row }) => <span className="text-muted">{row.original.item?.index}</span>,
    }),
    helper.display({
      id: 'key',
      header: 'Item',
      meta: { sort: 'key', width: 160 },
      cell: ({ row: { original } }) =>
        original.item && <ItemLink item={original.item} to={itemAt(original.item.key)} />,
    }),
    helper.display({
      id: 'status',
      header: 'Status',
      meta: { sort: 'status', width: 184 },
      cell: ({ row: { original } }) =>
        original.item && <Status item={original.item} reference={comparison?.reference} />,
    }),
    helper.display({
      id: 'input',
      header: 'Input',
      meta: { width: 160 },
      cell: ({ row: { original } }) => <Preview text={original.item?.input} />,
    }),
    helper.display({
      id: 'output',
      header: 'Output',
      meta: { width: 160 },
      cell: ({ row: { original } }) => <Output item={original.item} />,
    }),
    ...evaluators.slice(0, MAX_SCORE_COLUMNS).flatMap((name) => [
      helper.display({
        id: `score:${name}`,
        header: () => <Text>{name}</Text>,
        meta: { sort: `score:${name}`, width: 110 },
        cell: ({ row: { original } }) => original.item && <ScoreCell item={original.item} evaluator={name} />,
      }),
      ...(comparison === undefined ? [] : [changeOf(name)]),
    ]),
    helper.display({
      id: 'latency',
      header: 'Latency',
      meta: { sort: 'latency', width: 96, isNumber: true },
      cell: ({ row: { original } }) => original.item && <Latency item={original.item} />,
    }),
    helper.display({
      id: 'tokens',
      header: 'Tokens',
      meta: { sort: 'tokens', width: 86, isNumber: true },
      cell: ({ row: { original } }) => <OptionalNumber value={original.item?.tokens} format={formatCount} />,
    }),
    helper.display({
      id: 'cost',
      header: 'Agent cost',
      meta: { sort: 'cost', width: 120, isNumber: true },
      cell: ({ row: { original } }) => original.item && <Cost item={original.item} />,
    }),
  ];
}

const NO_FILTERS = new URLSearchParams();

/** A link that covers its row, and so is its title. An item that only another run has opens there. */
function ItemLink({ item, to }: { item: ItemRow; to: string }) {
  const recorded = itemMark(item.traffic);
  const other = item.isMissing === true ? item.compared?.find((one) => one !== null) : undefined;
  return (
    <Link
      to={other == null ? to : itemPage(other.id, item.key, NO_FILTERS)}
      preventScrollReset
      title={recorded === undefined ? item.key : `${item.key}\n${recorded.explanation}`}
      className="block scroll-mt-12 scroll-mb-4 truncate font-medium outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
    >
      <Text>{item.name}</Text>
      {item.runs > 1 && (
        <span className="ml-1 font-normal text-muted text-xs" title={`${item.runs} trials`}>
          ×{item.runs}
        </span>
      )}
    </Link>
  );
}

function Status({ item, reference }: { item: ItemRow; reference: ReferenceName | undefined }) {
  return (
    <>
      {item.isMissing !== true && <ItemVerdict row={item} />}
      {reference !== undefined && <ItemPresence item={item} reference={reference} />}
      <RetryMark attempts={item.retried} />
    </>
  );
}

function Preview({ text }: { text: string | undefined }) {
  return (
    <span className="block truncate text-muted" dir="auto">
      {text !== undefined && <Text>{text}</Text>}
    </span>
  );
}

function Output({ item }: { item: ItemRow | undefined }) {
  if (item?.output != null) return <Preview text={item.output} />;
  return <span className="block truncate text-bad">{item?.error != null && <Text>{item.error}</Text>}</span>;
}

function ScoreCell({ item, evaluator }: { item: ItemRow; evaluator: string }) {
  const value = getOwn(item.scores, evaluator);
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

function Latency({ item }: { item: ItemRow }) {
  return (
    <>
      <ReplayIcon {...itemMark(item.traffic)} />
      {formatDuration(item.latencyMs)}
    </>
  );
}

function Cost({ item }: { item: ItemRow }) {
  return (
    <>
      {item.cost != null && <ReplayIcon {...itemMark(item.traffic)} />}
      <OptionalNumber value={item.cost} format={formatCost} />
    </>
  );
}

function OptionalNumber({
  value,
  format,
}: {
  value: number | null | undefined;
  format: (value: number) => string;
}) {
  return value == null ? <span className="text-muted">–</span> : format(value);
}
