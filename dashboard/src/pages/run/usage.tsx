// Latency, tokens, agent cost, judge cost and the cost of simulated users.
import type { ReactNode } from 'react';
import type { ItemStats, LatencyStats, Overview } from '../../api/types';
import { Panel } from '../../components/panel';
import { ReplayMark } from '../../components/replay-mark';
import { userCalls, userMark } from '../../lib/conversation';
import { costFormat, formatCount, formatDuration, pluralize } from '../../lib/format';
import { judgeMark, REPLAYED_JUDGES, REPLAYED_USERS, summaryMark } from '../../lib/traffic';
import { costsOf } from './costs';

const COLUMNS = ['p50', 'p95', 'p99', 'max'] as const;

export function Usage({ overview }: { overview: Overview }) {
  const { summary } = overview.run;
  return (
    <Panel title="Latency, tokens and cost" actions={<ReplayMark mark={summaryMark(summary)} />}>
      <PercentileTable overview={overview} />
      <div className="mt-3 border-line border-t pt-3">
        <CostTotals overview={overview} />
      </div>
    </Panel>
  );
}

/** The percentiles of latency, tokens and agent cost per item. */
export function PercentileTable({ overview }: { overview: Overview }) {
  const format = costFormat(COLUMNS.map((column) => overview.cost?.[column]));
  return (
    <table className="w-full tabular-nums">
      <caption className="sr-only">Percentiles per item</caption>
      <thead>
        <tr className="border-line border-b text-right text-muted text-xs [&>th]:pb-1.5 [&>th]:font-medium">
          <th scope="col" className="text-left">
            Per item
          </th>
          {COLUMNS.map((name) => (
            <th key={name} scope="col" className="pl-2">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        <Percentiles name="Latency" stats={overview.run.summary.latency} format={formatDuration} />
        <Percentiles name="Tokens" stats={overview.tokens} format={formatCount} />
        <Percentiles name="Agent cost" stats={overview.cost} format={format} />
      </tbody>
    </table>
  );
}

/** The cost of the agent, the judges and the simulated users over all items. */
export function CostTotals({ overview }: { overview: Overview }) {
  const { summary } = overview.run;
  const costs = costsOf(summary);
  const format = costFormat(costs.all);
  const formatTotal = (cost: number | undefined) => (cost === undefined ? 'cost unknown' : format(cost));
  return (
    <>
      <dl className="flex flex-col gap-1">
        <TotalRow name="Agent total">
          {formatTotal(costs.agent)}
          <Note>
            {summary.totalTokens == null ? 'no tokens reported' : pluralize(summary.totalTokens, 'token')}
          </Note>
        </TotalRow>
        {summary.judgeCalls != null && (
          <TotalRow name="Judge total">
            {formatTotal(costs.judge)} <ReplayMark mark={judgeMark(summary)} explanation={REPLAYED_JUDGES} />
            <Note>{judgeNote(overview)}</Note>
          </TotalRow>
        )}
        {summary.simulatedUsers != null && (
          <TotalRow name="Simulated users total">
            {formatTotal(costs.user)}{' '}
            <ReplayMark mark={userMark(summary.simulatedUsers)} explanation={REPLAYED_USERS} />
            <Note>{userCalls(summary.simulatedUsers)}</Note>
          </TotalRow>
        )}
        {costs.hasSeveral && (
          <TotalRow name="Total cost">
            {formatTotal(costs.total)}
            {!costs.isComplete && costs.total !== undefined && <Note>known costs only</Note>}
          </TotalRow>
        )}
      </dl>
      {summary.unpricedModels !== undefined && summary.unpricedModels.length > 0 && (
        <p className="mt-2 text-warn text-xs [overflow-wrap:anywhere]">
          No price for {summary.unpricedModels.join(', ')}; costs exclude these models. Add prices under
          [prices] in cobalt.toml.
        </p>
      )}
    </>
  );
}

interface PercentilesProps {
  name: string;
  stats: ItemStats | LatencyStats | null | undefined;
  format: (value: number) => string;
}

function Percentiles({ name, stats, format }: PercentilesProps) {
  return (
    <tr className="[&>*]:py-1.5">
      <th scope="row" className="text-left font-normal">
        {name}
      </th>
      {COLUMNS.map((column) => (
        <td key={column} className="pl-2 text-right">
          {stats ? format(stats[column]) : <span className="text-muted">–</span>}
        </td>
      ))}
    </tr>
  );
}

function TotalRow({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-x-3">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0 text-right tabular-nums [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

const Note = ({ children }: { children: ReactNode }) => (
  <span className="block text-muted text-xs">{children}</span>
);

function judgeNote({ run: { summary } }: Overview): string {
  const parts = [
    pluralize(summary.judgeCalls ?? 0, 'call'),
    summary.judgeCached ? `${formatCount(summary.judgeCached)} cached` : undefined,
    summary.judgeReplayed ? `${formatCount(summary.judgeReplayed)} replayed` : undefined,
    summary.judgeTokens ? pluralize(summary.judgeTokens, 'token') : undefined,
    summary.judgeModels?.join(', '),
  ];
  return parts.filter((part) => part !== undefined && part !== '').join(', ');
}
