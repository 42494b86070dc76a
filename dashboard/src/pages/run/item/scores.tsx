// The scores of a trial: each with its pass mark, reason, reasoning and judge; and the metrics.
import type { Evaluation, Execution, Item, ModelUsage, Report } from '../../../api/types';
import { Badge } from '../../../components/badge';
import { Disclosure } from '../../../components/disclosure';
import { FieldList } from '../../../components/field-list';
import { RichValue } from '../../../components/rich/value';
import { Score } from '../../../components/score';
import { Text, TextBlock } from '../../../components/text';
import { formatCost, formatCount, formatWithUnit, pluralize } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { evaluatorsOf, passMarkOf } from '../../../lib/report';
import { Fact } from './fact';
import { Heading } from './heading';
import { Section } from './section';
import { TrialScores } from './trials';

interface ScoresProps {
  run: Report;
  item: Item;
  execution: Execution;
  /** The number of trials. */
  trials: number;
}

export function Scores({ run, item, execution, trials }: ScoresProps) {
  const { metrics = {} } = execution;
  return (
    <div className="divide-y divide-line">
      {trials > 1 && (
        <Section title={`Over ${trials} trials`}>
          <TrialScores run={run} item={item} />
        </Section>
      )}
      <Section title="Scores">
        <Evaluations run={run} evaluations={execution.evaluations} />
      </Section>
      {Object.keys(metrics).length > 0 && (
        <Section title="Metrics">
          <dl className="flex flex-wrap gap-x-8 gap-y-2">
            {Object.entries(metrics).map(([name, { value, unit }]) => (
              <Fact key={name} name={<Text>{name}</Text>}>
                <Text>{formatWithUnit(value, unit)}</Text>
              </Fact>
            ))}
          </dl>
        </Section>
      )}
    </div>
  );
}

function Evaluations({ run, evaluations }: { run: Report; evaluations: Record<string, Evaluation> }) {
  const names = [...new Set([...evaluatorsOf(run), ...Object.keys(evaluations)])].filter((name) =>
    Object.hasOwn(evaluations, name),
  );
  if (names.length === 0) return <p className="text-muted">Not evaluated</p>;
  return (
    <ul className="divide-y divide-line rounded-md border border-line">
      {names.map((name) => {
        const evaluation = getOwn(evaluations, name);
        return (
          evaluation && (
            <Row key={name} name={name} passMark={passMarkOf(run, name)} evaluation={evaluation} />
          )
        );
      })}
    </ul>
  );
}

interface RowProps {
  name: string;
  passMark: number | undefined;
  evaluation: Evaluation;
}

function Row({ name, passMark, evaluation }: RowProps) {
  const { score, error, reason, chainOfThought, metadata, judge, notApplicable } = evaluation;
  const isBelowPassMark = passMark !== undefined && score != null && score < passMark;
  return (
    <li className="px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Heading depth={2} className="min-w-0 font-medium [overflow-wrap:break-word]">
          <Text>{name}</Text>
        </Heading>
        {notApplicable ? (
          <Badge>n/a: does not apply</Badge>
        ) : score == null ? (
          <Badge tone="bad">Scoring error</Badge>
        ) : (
          <Score value={score} isBelowPassMark={isBelowPassMark} />
        )}
        {passMark !== undefined && !notApplicable && (
          <span className="text-muted text-xs tabular-nums">
            {isBelowPassMark ? 'Below pass mark' : 'Pass mark'} {Number(passMark.toFixed(3))}
          </span>
        )}
        {judge != null && <Judge usage={judge} />}
      </div>
      {error != null && <TextBlock className="mt-1 text-bad">{error}</TextBlock>}
      {reason != null && reason !== '' && (
        <div className="mt-1">
          <RichValue value={reason} label={`Format of the reason for ${name}`} />
        </div>
      )}
      {chainOfThought != null && chainOfThought !== '' && (
        <Disclosure title="Reasoning">
          <RichValue value={chainOfThought} label={`Format of the reasoning for ${name}`} />
        </Disclosure>
      )}
      {metadata !== undefined && Object.keys(metadata).length > 0 && (
        <Disclosure title="Details">
          <FieldList fields={metadata} />
        </Disclosure>
      )}
    </li>
  );
}

/** The judge's models, calls, tokens and cost. */
function Judge({ usage }: { usage: ModelUsage }) {
  const { models, calls, cached, replayed = 0, tokens, cost, unpriced = [] } = usage;
  const total = tokens.input + tokens.output;
  const facts = [
    models.join(', '),
    calls > 0 && pluralize(calls, 'call'),
    cached > 0 && `${formatCount(cached)} cached`,
    replayed > 0 && `${formatCount(replayed)} replayed`,
    total > 0 && pluralize(total, 'token'),
    calls + replayed > 0 && `judge cost ${unpriced.length > 0 && cost === 0 ? 'unknown' : formatCost(cost)}`,
  ];
  return (
    <span className="ml-auto text-muted text-xs tabular-nums [overflow-wrap:anywhere]">
      <Text>{facts.filter(Boolean).join(' · ')}</Text>
    </span>
  );
}
