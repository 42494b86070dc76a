// The evaluations of an output: score, pass mark, reason and reasoning.
import { type ReactNode, useId, useState } from 'react';
import type { Evaluation, Report } from '../../../api/types';
import { Badge } from '../../../components/badge';
import { FieldList } from '../../../components/field-list';
import { Score } from '../../../components/score';
import { Text, TextBlock } from '../../../components/text';
import { formatCost, pluralize } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { evaluatorsOf, passMarkOf } from '../verdict';

export function Evaluations({ run, evaluations }: { run: Report; evaluations: Record<string, Evaluation> }) {
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
        <h4 className="min-w-0 font-medium [overflow-wrap:anywhere]">
          <Text>{name}</Text>
        </h4>
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
        {judge != null && (
          <span className="ml-auto text-muted text-xs [overflow-wrap:anywhere]">
            {[
              judge.models?.join(', '),
              judge.calls > 0
                ? `judge cost ${formatCost(judge.cost)}`
                : pluralize(judge.cached, 'cached response'),
            ]
              .filter(Boolean)
              .join(' · ')}
          </span>
        )}
      </div>
      {error != null && <TextBlock className="mt-1 text-bad">{error}</TextBlock>}
      {reason != null && reason !== '' && <TextBlock className="mt-1 text-muted">{reason}</TextBlock>}
      {chainOfThought != null && chainOfThought !== '' && (
        <Collapsible name="Reasoning">
          <TextBlock>{chainOfThought}</TextBlock>
        </Collapsible>
      )}
      {metadata !== undefined && Object.keys(metadata).length > 0 && (
        <Collapsible name="Details">
          <FieldList fields={metadata} />
        </Collapsible>
      )}
    </li>
  );
}

/** Content behind a toggle button. */
function Collapsible({ name, children }: { name: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="mt-1.5">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="rounded font-medium text-accent text-xs hover:underline"
      >
        {isOpen ? 'Hide' : 'Show'} {name.toLowerCase()}
      </button>
      {isOpen && (
        <div id={id} className="mt-1.5 rounded-md bg-sunken/60 px-3 py-2">
          {children}
        </div>
      )}
    </div>
  );
}
