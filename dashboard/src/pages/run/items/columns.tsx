// The columns of the items table.
import {
  columnOrderingFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  createColumnHelper,
  tableFeatures,
} from '@tanstack/react-table';
import type { ReactNode } from 'react';
import type { ItemField, ItemRow } from '../../../api/types';
import { formatCount } from '../../../lib/format';
import { Cost, FieldValue, ItemLink, Latency, None, Output, Preview, ScoreCell, Status } from './cells';
import { scoreColumn } from './filter';
import { isField, MAX_WIDTH, MIN_WIDTH, NAME_COLUMN } from './layout';

interface ColumnMeta {
  /** The name for people. */
  label: string;
  /** The name for conditions and groups; absent if the server has none. */
  name?: string;
  type: ItemField['type'];
  /** Suggestions for conditions. */
  values?: string[];
  /** The server's sort key; absent if the column is not sortable. */
  sort?: string;
  isNumber?: boolean;
  /** Whether it takes the remaining space, unless it was resized. */
  isFlexible?: boolean;
  /** The evaluator whose scores it has. */
  evaluator?: string;
  /** Whether it is shown unless others are selected. */
  isUsual?: boolean;
  cell: (item: ItemRow) => ReactNode;
}

export const features = tableFeatures({
  columnMeta: {} as ColumnMeta,
  columnOrderingFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
});

/** Rows are virtual and loaded by pages, so the table has none of its own. */
export const NO_ROWS: ItemRow[] = [];

const helper = createColumnHelper<typeof features, ItemRow>();

const column = (id: string, size: number, meta: ColumnMeta) =>
  helper.display({
    id,
    size,
    minSize: MIN_WIDTH,
    maxSize: MAX_WIDTH,
    meta,
  });

export type ItemColumn = ReturnType<typeof column>;

/** The width of the change of a score, in pixels. */
const CHANGE_WIDTH = 72;

/** `itemAt` returns the URL of an item; `compared` is the number of runs that are compared with a reference. Fields that are shown but unknown yet are columns as well. In a narrow window, the first columns leave room for scores. */
export function columnsOf(
  evaluators: string[],
  fields: ItemField[],
  shown: string[] | undefined,
  itemAt: (key: string) => string,
  compared: number,
  isNarrow: boolean,
): ItemColumn[] {
  const known = new Set(fields.map(({ name }) => name));
  const unknown = (shown ?? []).filter((id) => isField(id) && !known.has(id));
  return [
    column(NAME_COLUMN, isNarrow ? 168 : 184, {
      label: 'Item',
      name: 'key',
      type: 'text',
      sort: 'key',
      isUsual: true,
      cell: (item) => <ItemLink item={item} to={itemAt(item.key)} />,
    }),
    column('status', compared > 0 ? 200 : isNarrow ? 156 : 164, {
      label: 'Status',
      name: 'status',
      type: 'text',
      values: ['ok', 'error', 'timeout'],
      sort: 'status',
      isUsual: true,
      cell: (item) => <Status item={item} />,
    }),
    ...evaluators.map((evaluator) =>
      column(scoreColumn(evaluator), 142 + CHANGE_WIDTH * compared, {
        label: evaluator,
        name: scoreColumn(evaluator),
        type: 'number',
        sort: `score:${evaluator}`,
        evaluator,
        isUsual: true,
        cell: (item) => <ScoreCell item={item} evaluator={evaluator} />,
      }),
    ),
    column('input', 180, {
      label: 'Input',
      type: 'text',
      isFlexible: true,
      isUsual: true,
      cell: (item) => <Preview text={item.input} />,
    }),
    column('output', 180, {
      label: 'Output',
      type: 'text',
      isFlexible: true,
      isUsual: true,
      cell: (item) => <Output item={item} />,
    }),
    column('latency', 92, {
      label: 'Latency',
      name: 'latency',
      type: 'number',
      sort: 'latency',
      isNumber: true,
      isUsual: true,
      cell: (item) => <Latency item={item} />,
    }),
    column('tokens', 88, {
      label: 'Tokens',
      name: 'tokens',
      type: 'number',
      sort: 'tokens',
      isNumber: true,
      isUsual: true,
      cell: (item) => (item.tokens == null ? <None /> : formatCount(item.tokens)),
    }),
    column('cost', 112, {
      label: 'Agent cost',
      name: 'cost',
      type: 'number',
      sort: 'cost',
      isNumber: true,
      isUsual: true,
      cell: (item) => <Cost item={item} />,
    }),
    column('index', 64, {
      label: '#',
      type: 'number',
      sort: 'index',
      isNumber: true,
      cell: (item) => <span className="text-muted">{item.index}</span>,
    }),
    ...fields.map(fieldColumn),
    ...unknown.map((name) => fieldColumn({ name, label: name, type: 'text' })),
  ];
}

const fieldColumn = ({ name, label, type, values }: ItemField) =>
  column(name, type === 'number' || type === 'boolean' ? 112 : 180, {
    label,
    name,
    type,
    values,
    sort: name,
    isNumber: type === 'number',
    isFlexible: name === 'expected',
    cell: (item) => <FieldValue item={item} column={name} />,
  });

/** Columns for conditions only: the item has them, but the table cannot show them. */
const HIDDEN_FIELDS: ItemField[] = [
  { name: 'tool', label: 'Called tool', type: 'text' },
  { name: 'model', label: 'Model', type: 'text' },
];

/** What conditions and groups can name. */
export function conditionFields(columns: ItemColumn[]): ItemField[] {
  const own = columns.flatMap(({ meta }): ItemField[] =>
    meta?.name === undefined
      ? []
      : [{ name: meta.name, label: meta.label, type: meta.type, values: meta.values }],
  );
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...HIDDEN_FIELDS.filter(({ name }) => !names.has(name))];
}

/** The shown columns in their order. */
export function shownColumns(columns: ItemColumn[], shown: string[] | undefined): string[] {
  const ids = columns.map(({ id }) => id ?? '');
  if (shown !== undefined) return shown.filter((id) => ids.includes(id));
  return columns.filter(({ meta }) => meta?.isUsual).map(({ id }) => id ?? '');
}
