// Statistics by a field of the items: a table for each field, with the worst group of each evaluator marked.
import type { Report } from '../../api/types';
import { Badge } from '../../components/badge';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { formatCount, formatPercent, formatScore, pluralize } from '../../lib/format';
import { getOwn } from '../../lib/get-own';
import { evaluatorsOf } from '../../lib/report';

type Field = NonNullable<Report['summary']['groups']>[number];
type Group = Field['groups'][number];

/** Renders nothing if the experiment groups its items by no field. */
export function Groups({ run }: { run: Report }) {
  return run.summary.groups?.map((field) => <FieldPanel key={field.field} field={field} run={run} />);
}

function FieldPanel({ field: { field, groups, moreGroups = 0 }, run }: { field: Field; run: Report }) {
  const evaluators = evaluatorsOf(run).filter((name) => groups.some((group) => getOwn(group.scores, name)));
  const worst = new Map(evaluators.map((name) => [name, worstGroup(groups, name)]));
  return (
    <Panel title={`By ${field}`}>
      <div className="relative -mx-4 overflow-x-auto px-4">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard */}
        <table className="w-full text-left" tabIndex={0}>
          <caption className="sr-only">Scores by {field}</caption>
          <thead className="border-line border-b text-muted text-xs">
            <tr className="align-bottom [&>th]:pb-1.5 [&>th]:font-medium">
              <th scope="col">
                <Text>{field}</Text>
              </th>
              <th scope="col" className="px-3 text-right">
                Items passed
              </th>
              {evaluators.map((name) => (
                <th key={name} scope="col" className="min-w-44 px-3 [overflow-wrap:anywhere]">
                  <Text>{name}</Text>
                  <span className="block font-normal">Mean (95% CI)</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {groups.map((group) => (
              <tr key={group.value} className="align-top [&>*]:py-2.5">
                <th scope="row" className="max-w-64 pr-3 font-medium [overflow-wrap:anywhere]">
                  <Text>{group.value}</Text>
                </th>
                <td className="px-3 text-right whitespace-nowrap tabular-nums">
                  {formatCount(group.passedItems ?? 0)} of {formatCount(group.items ?? 0)}
                  {(group.failedItems ?? 0) > 0 && (
                    <span className="block text-bad text-xs">
                      {formatCount(group.failedItems ?? 0)} in error
                    </span>
                  )}
                </td>
                {evaluators.map((name) => (
                  <td key={name} className="px-3">
                    <ScoreCell group={group} name={name} isWorst={worst.get(name) === group} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {moreGroups > 0 && (
        <p className="mt-3 text-muted text-xs">{pluralize(moreGroups, 'more group')} not shown.</p>
      )}
    </Panel>
  );
}

/** The group with the lowest mean; undefined unless groups differ. */
function worstGroup(groups: Group[], evaluator: string): Group | undefined {
  const scored = groups.flatMap((group) => {
    const mean = getOwn(group.scores, evaluator)?.avg;
    return mean === undefined ? [] : [{ group, mean }];
  });
  const lowest = Math.min(...scored.map(({ mean }) => mean));
  const isEven = scored.every(({ mean }) => mean === lowest);
  return isEven ? undefined : scored.find(({ mean }) => mean === lowest)?.group;
}

function ScoreCell({ group, name, isWorst }: { group: Group; name: string; isWorst: boolean }) {
  const score = getOwn(group.scores, name);
  if (score?.avg === undefined) return <span className="text-muted">no score</span>;
  const { avg, ci95, passRate } = score;
  return (
    <>
      <span className="flex items-center gap-2">
        <span className="font-semibold tabular-nums">{formatScore(avg)}</span>
        {isWorst && <Badge tone="warn">Worst</Badge>}
      </span>
      <span className="block text-muted text-xs whitespace-nowrap tabular-nums">
        {ci95 ? `${formatScore(ci95.low)} to ${formatScore(ci95.high)}` : 'no CI'}
        {passRate != null && `, pass rate ${formatPercent(passRate)}`}
      </span>
    </>
  );
}
