// The differences of scores or metrics vs. the reference: change, CI, p-value, verdict and power.
import clsx from 'clsx';
import type { Comparison, Difference } from '../../../api/types';
import { DifferenceVerdict } from '../../../components/difference-verdict';
import { Text } from '../../../components/text';
import { DifferenceInterval, Scale, scaleLimit } from './difference-interval';
import { explainChange, explainDifference } from './explain';
import {
  formatInterval,
  formatPValue,
  formatSignedValue,
  formatValue,
  metricName,
  minDetectable,
} from './format';
import { type ReferenceName, RunLetter, runLabel } from './run-letter';

/** A difference of another run; `place` is the run's place, that of the reference is 0. */
interface Row {
  place: number;
  difference: Difference;
}

/** Groups the differences of all comparisons by name, in order of first occurrence. */
function groupByName(comparisons: Comparison[], kind: 'evaluators' | 'amounts'): [string, Row[]][] {
  const groups = new Map<string, Row[]>();
  for (const [index, comparison] of comparisons.entries()) {
    for (const difference of comparison[kind]) {
      const name = metricName(difference);
      const rows = groups.get(name) ?? [];
      rows.push({ place: index + 1, difference });
      groups.set(name, rows);
    }
  }
  return [...groups];
}

interface DifferenceTableProps {
  comparisons: Comparison[];
  kind: 'evaluators' | 'amounts';
  reference: ReferenceName;
}

/** Renders nothing if the runs have no score or metric in common. */
export function DifferenceTable({ comparisons, kind, reference }: DifferenceTableProps) {
  const groups = groupByName(comparisons, kind);
  const all = groups.flatMap(([, rows]) => rows.map((row) => row.difference));
  const first = all[0];
  if (first === undefined) return null;
  const limit = scaleLimit(all);
  const title = kind === 'evaluators' ? 'Score' : 'Metric';
  return (
    <table className="w-full table-fixed text-left max-lg:block">
      <caption className="sr-only">
        {kind === 'evaluators' ? 'Scores' : 'Latency, tokens, agent cost and errors'} vs. {reference}
      </caption>
      <thead className="text-muted text-xs max-lg:block">
        <tr className="max-lg:grid max-lg:grid-cols-1 max-lg:py-2">
          <Head className="w-[12%] max-lg:hidden">{title}</Head>
          <Head className="w-22 text-right max-lg:hidden">{runLabel(0, reference)}</Head>
          <Head className="w-20 text-right max-lg:hidden">
            {comparisons.length === 1 ? runLabel(1, reference) : 'Run'}
          </Head>
          <Head className="w-22 text-right max-lg:hidden">Change</Head>
          <Head className="lg:px-4" name="95% CI">
            <Scale limit={limit} quantity={first.quantity} />
          </Head>
          <Head className="w-38 max-lg:hidden">95% CI</Head>
          <Head className="w-16 text-right max-lg:hidden">
            <abbr
              title="The probability of a difference at least this large if nothing had changed"
              className="no-underline"
            >
              p
            </abbr>
          </Head>
          <Head className="w-32 max-lg:hidden">Verdict</Head>
          <Head className="w-24 text-right max-lg:hidden">
            <abbr title="The smallest difference found with 80% power" className="no-underline">
              Min detectable
            </abbr>
          </Head>
          <Head className="w-[19%] pl-4 max-lg:hidden">Items</Head>
        </tr>
      </thead>
      {groups.map(([name, rows]) => (
        <tbody key={name} className="border-line border-t max-lg:block">
          {rows.map((row, index) => (
            <DifferenceRow
              key={row.place}
              name={name}
              row={row}
              limit={limit}
              isFirst={index === 0}
              hasSeveralRuns={comparisons.length > 1}
            />
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Head({
  children,
  name,
  className,
}: {
  children: React.ReactNode;
  name?: string;
  className?: string;
}) {
  return (
    <th
      scope="col"
      aria-label={name}
      className={clsx('px-2 py-2 align-bottom font-medium first:pl-0 last:pr-0', className)}
    >
      {children}
    </th>
  );
}

interface DifferenceRowProps {
  name: string;
  row: Row;
  limit: number;
  isFirst: boolean;
  hasSeveralRuns: boolean;
}

const NUMBER = 'px-2 py-1.5 text-right tabular-nums whitespace-nowrap';

function DifferenceRow({
  name,
  row: { place, difference },
  limit,
  isFirst,
  hasSeveralRuns,
}: DifferenceRowProps) {
  const isClear = difference.verdict === 'better' || difference.verdict === 'worse';
  return (
    <tr className="align-top max-lg:grid max-lg:grid-cols-[1fr_auto_auto] max-lg:items-baseline max-lg:gap-x-3 max-lg:py-3">
      <th scope="row" className="py-1.5 pr-2 font-medium max-lg:py-0">
        <span className="flex items-center gap-2">
          {hasSeveralRuns && <RunLetter place={place} />}
          <span className={clsx('[overflow-wrap:anywhere]', !isFirst && 'lg:sr-only')}>
            <Text>{name}</Text>
          </span>
        </span>
      </th>
      <td className={clsx(NUMBER, 'text-muted max-lg:order-2 max-lg:hidden')}>
        {formatValue(difference, difference.base)}
      </td>
      <td className={clsx(NUMBER, 'max-lg:hidden')}>{formatValue(difference, difference.other)}</td>
      <td
        className={clsx(
          NUMBER,
          'max-lg:p-0',
          isClear && (difference.verdict === 'better' ? 'font-semibold text-good' : 'font-semibold text-bad'),
        )}
      >
        {formatSignedValue(difference, difference.difference)}
      </td>
      <td className="py-1 max-lg:order-3 max-lg:col-span-3 lg:px-4">
        <DifferenceInterval difference={difference} limit={limit} />
      </td>
      <td
        className={clsx(
          NUMBER,
          'text-left! text-muted max-lg:order-4 max-lg:col-span-3 max-lg:p-0 max-lg:text-xs max-lg:whitespace-normal',
        )}
      >
        <span className="lg:hidden">
          {formatValue(difference, difference.base)} → {formatValue(difference, difference.other)}, 95% CI{' '}
        </span>
        {formatInterval(difference) ?? '–'}
      </td>
      <td className={clsx(NUMBER, 'text-muted max-lg:hidden')}>
        {difference.pAdjusted === null ? '–' : formatPValue(difference.pAdjusted)}
      </td>
      <td className="px-2 py-1 max-lg:order-1 max-lg:p-0">
        <DifferenceVerdict verdict={difference.verdict} />
      </td>
      <td className={clsx(NUMBER, 'text-muted max-lg:hidden')}>{minDetectable(difference) ?? '–'}</td>
      <td className="py-1.5 pl-4 text-muted text-xs/5 max-lg:order-5 max-lg:col-span-3 max-lg:p-0">
        <span className="max-lg:hidden">{explainChange(difference)}</span>
        <span className="lg:hidden">{explainDifference(difference)}</span>
      </td>
    </tr>
  );
}
