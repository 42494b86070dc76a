// The metrics that the agent recorded, those of the whole run, and its tables.
import { Fragment } from 'react';
import type { Interval, MetricStats, Report, RunMetric, RunTable } from '../../api/types';
import { Metric, Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { formatCount, formatNumber, formatWithUnit } from '../../lib/format';

const COLUMNS = ['min', 'p50', 'p95', 'max', 'total'] as const;
/** The maximum number of columns and rows of a table. */
const MAX_COLUMNS = 50;
const MAX_ROWS = 200;

/** Renders nothing if the run has none. */
export function CustomMetrics({ run: { summary } }: { run: Report }) {
  const ofRun = Object.entries(summary.runMetrics ?? {});
  const recorded = Object.entries(summary.metrics ?? {});
  const tables = Object.entries(summary.tables ?? {});
  if (ofRun.length + recorded.length + tables.length === 0) return null;
  return (
    <Panel title="Metrics">
      <div className="flex flex-col gap-4">
        {ofRun.length > 0 && (
          <dl className="flex flex-wrap gap-x-8 gap-y-3">
            {ofRun.map(([name, metric]) => (
              <RunMetricCell key={name} name={name} metric={metric} />
            ))}
          </dl>
        )}
        {recorded.length > 0 && <Recorded metrics={recorded} />}
        {tables.map(([name, table]) => (
          <Table key={name} name={name} table={table} />
        ))}
      </div>
    </Panel>
  );
}

function RunMetricCell({ name, metric: { value, unit, ci95, note } }: { name: string; metric: RunMetric }) {
  const reason = note == null ? undefined : <Text>{`No 95% CI: ${note}`}</Text>;
  return (
    <Metric name={<Text>{name}</Text>} note={ci95 == null ? reason : `95% CI ${formatInterval(ci95)}`}>
      <Text>{formatWithUnit(value, unit)}</Text>
    </Metric>
  );
}

const formatInterval = ({ low, high }: Interval) => `${formatNumber(low)} to ${formatNumber(high)}`;

function Recorded({ metrics }: { metrics: [string, MetricStats][] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must be able to scroll it
    <section className="-mx-4 overflow-x-auto px-4" aria-label="Recorded metrics" tabIndex={0}>
      <table className="w-full tabular-nums">
        <caption className="sr-only">Recorded metrics over all trials</caption>
        <thead>
          <tr className="border-line border-b text-right text-muted text-xs [&>th]:pb-1.5 [&>th]:font-medium">
            <th scope="col" className="text-left">
              Recorded metric
            </th>
            <th scope="col" className="pl-3">
              Mean
            </th>
            <th scope="col" className="pl-3">
              95% CI
            </th>
            {COLUMNS.map((name) => (
              <th key={name} scope="col" className="pl-3">
                {name}
              </th>
            ))}
            <th scope="col" className="pl-3">
              Trials
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {metrics.map(([name, stats]) => (
            <tr key={name} className="text-right [&>*]:py-1.5 [&>td]:pl-3">
              <th scope="row" className="text-left font-normal [overflow-wrap:anywhere]">
                <Text>{name}</Text>
                {stats.unit != null && (
                  <span className="ml-1.5 text-muted text-xs">
                    <Text>{stats.unit}</Text>
                  </span>
                )}
              </th>
              <td className="font-semibold">{formatNumber(stats.avg)}</td>
              <td className="whitespace-nowrap text-muted">
                {stats.ci95 == null ? '–' : formatInterval(stats.ci95)}
              </td>
              {COLUMNS.map((column) => (
                <td key={column}>{formatNumber(stats[column])}</td>
              ))}
              <td className="text-muted">{formatCount(stats.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Table({ name, table: { label, columns, rows } }: { name: string; table: RunTable }) {
  const isCut = columns.length > MAX_COLUMNS || rows.length > MAX_ROWS;
  return (
    <Fragment>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must be able to scroll it */}
      <section className="-mx-4 max-h-96 overflow-auto px-4" aria-label={`Table ${name}`} tabIndex={0}>
        <table className="tabular-nums">
          <caption className="mb-1 text-left font-medium">
            <Text>{name}</Text>
          </caption>
          <thead>
            <tr className="border-line border-b text-right text-muted text-xs [&>th]:pb-1.5 [&>th]:font-medium">
              <th scope="col" className="pr-3 text-left">
                <Text>{label ?? ''}</Text>
              </th>
              {columns.slice(0, MAX_COLUMNS).map((column, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns are identified by their index
                <th key={place} scope="col" className="pl-3">
                  <Text>{column}</Text>
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {rows.slice(0, MAX_ROWS).map(([row, values], place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified by their index
              <tr key={place} className="text-right [&>*]:py-1.5 [&>td]:pl-3">
                <th scope="row" className="pr-3 text-left font-normal [overflow-wrap:anywhere]">
                  <Text>{row}</Text>
                </th>
                {values.slice(0, MAX_COLUMNS).map((value, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns are identified by their index
                  <td key={column}>{formatNumber(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {isCut && (
        <p className="text-muted text-xs">
          The first part of {formatCount(columns.length)} columns and {formatCount(rows.length)} rows.
        </p>
      )}
    </Fragment>
  );
}
