// A condition on a column of the items: `latency>=500`, `input.topic=billing`.
import type { ItemField } from '../../../api/types';

/** Longer ones first: `>=` begins with `>`. */
const OPERATORS = ['!=', '<=', '>=', '=', '<', '>', '~'] as const;

export type Operator = (typeof OPERATORS)[number];

interface Condition {
  column: string;
  operator: Operator;
  value: string;
}

const NAMES: Record<Operator, string> = {
  '=': 'is',
  '!=': 'is not',
  '<': 'below',
  '<=': 'at most',
  '>': 'above',
  '>=': 'at least',
  '~': 'contains',
};

const OF_TYPE: Record<ItemField['type'], Operator[]> = {
  text: ['~', '=', '!='],
  json: ['~', '=', '!='],
  boolean: ['=', '!='],
  number: ['>=', '<=', '>', '<', '=', '!='],
};

/** The operators for a column of this type. */
export const operatorsOf = (type: ItemField['type']) =>
  OF_TYPE[type].map((value) => ({ value, name: NAMES[value] }));

/** Undefined if there is no operator. The names of the `columns` may contain operators; other names end at the first one. */
export function parseCondition(text: string, columns: string[] = []): Condition | undefined {
  const first = text.search(/[!<>=~]/);
  const ends = [...columns.filter((name) => text.startsWith(name)).map(({ length }) => length), first];
  for (const end of ends.filter((end) => end > 0).sort((a, b) => b - a)) {
    const operator = OPERATORS.find((operator) => text.startsWith(operator, end));
    if (operator !== undefined)
      return { column: text.slice(0, end), operator, value: text.slice(end + operator.length) };
  }
  return undefined;
}

export const conditionText = ({ column, operator, value }: Condition) => `${column}${operator}${value}`;

/** The condition for people: `Latency at least 500`. */
export const describeCondition = ({ operator, value }: Condition, label: string) =>
  `${label} ${NAMES[operator]} ${value}`;
