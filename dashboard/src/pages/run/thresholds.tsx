// What was asked of the run, and what was found.
import { CircleCheck, CircleDashed, CircleX, Unplug } from 'lucide-react';
import type { Report, ThresholdOutcome } from '../../api/types';
import { Badge } from '../../components/badge';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';

const SIGNS: Record<string, string> = { '>=': '≥', '<=': '≤', '>': '>', '<': '<' };

/** A threshold's name in its two halves: `score.avg` and `≥ 0.8`. */
export function halves(name: string): [figure: string, bound: string] {
  const parted = /^(.*\S)\s*(>=|<=|>|<)\s*([^<>=]+)$/.exec(name);
  return parted === null ? [name, ''] : [parted[1] ?? '', `${SIGNS[parted[2] ?? '']} ${parted[3]}`];
}

export function Thresholds({ run }: { run: Report }) {
  const outcomes = run.ciStatus?.thresholds ?? [];
  const summary = run.ciStatus?.summary;
  return (
    <Panel title="Thresholds">
      {outcomes.length === 0 ? (
        <p className="text-muted">{summary ?? 'This experiment has none, so scores alone cannot fail it.'}</p>
      ) : (
        <table className="w-full">
          <caption className="sr-only">Thresholds</caption>
          <thead>
            <tr className="text-left text-muted text-xs [&>th]:pb-1.5 [&>th]:font-medium">
              <th scope="col">Figure</th>
              <th scope="col" className="px-3 text-right">
                Found
              </th>
              <th scope="col" className="text-right">
                Finding
              </th>
            </tr>
          </thead>
          <tbody>
            {outcomes.map((outcome) => (
              <Row key={outcome.name} outcome={outcome} />
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function Row({ outcome }: { outcome: ThresholdOutcome }) {
  const [figure, bound] = halves(outcome.name);
  // Of the others, the figure and the bound tell all.
  const needsWords = outcome.finding === 'inconclusive' || outcome.actual == null;
  return (
    <>
      <tr className="border-line border-t align-top [&>*]:pt-2 [&>*]:pb-1">
        <th scope="row" className="text-left font-normal">
          <span className="font-mono text-xs/5 [overflow-wrap:anywhere]">
            {figure} <span className="whitespace-nowrap text-muted">{bound}</span>
          </span>
        </th>
        <td className="px-3 text-right whitespace-nowrap tabular-nums">{outcome.figure ?? '–'}</td>
        <td className="text-right">
          <Finding of={outcome} />
        </td>
      </tr>
      <tr>
        <td colSpan={3} className="pb-1 text-muted text-xs [overflow-wrap:anywhere]">
          {needsWords ? (
            <Text>{outcome.message}</Text>
          ) : (
            outcome.againstBaseline === true && 'against the baseline'
          )}
        </td>
      </tr>
    </>
  );
}

function Finding({ of: { finding, actual, passed } }: { of: ThresholdOutcome }) {
  if (finding === 'met')
    return (
      <Badge tone="good" icon={<CircleCheck />}>
        Met
      </Badge>
    );
  if (finding === 'inconclusive') {
    return (
      <Badge tone={passed ? 'warn' : 'bad'} icon={<CircleDashed />}>
        Inconclusive
      </Badge>
    );
  }
  if (actual == null)
    return (
      <Badge tone="bad" icon={<Unplug />}>
        Nothing to measure
      </Badge>
    );
  return (
    <Badge tone="bad" icon={<CircleX />}>
      Missed
    </Badge>
  );
}
