// The change vs. the baseline.
import { Link } from 'react-router';
import type { Comparison, Difference } from '../../api/types';
import { CutText } from '../../components/cut-text';
import { DifferenceVerdict } from '../../components/difference-verdict';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { comparisonOf } from '../../lib/addresses';
import { formatDateTime, formatScore, formatSigned, pluralize } from '../../lib/format';
import { besideTable } from '../../lib/item-addresses';
import { escapeHidden, withoutBackticks } from '../../lib/texts';

/** The maximum number of items listed here; the comparison has all. */
const MAX_ITEMS = 6;

export function BaselineChange({ comparison }: { comparison: Comparison }) {
  const { base, other, evaluators, regressed = [], notes } = comparison;
  return (
    <Panel
      title={`Change vs. baseline (${base.id}, ${formatDateTime(base.timestamp)})`}
      actions={
        <Link to={comparisonOf([base.id, other.id])} className="text-accent text-xs hover:underline">
          Compare
        </Link>
      }
    >
      <ul className="flex flex-col gap-1.5">
        {evaluators.map((difference) => (
          <ScoreChange key={difference.name} difference={difference} />
        ))}
      </ul>
      {regressed.length > 0 && (
        <>
          <h3 className="mt-3 mb-1 border-line border-t pt-3 text-muted text-xs">Regressions</h3>
          <ul className="flex flex-col gap-1">
            {regressed.slice(0, MAX_ITEMS).map(({ key, failed, scores }) => (
              <li key={key} className="flex items-baseline justify-between gap-3">
                <Link to={besideTable(other.id, key)} className="flex min-w-0 text-accent hover:underline">
                  <CutText>{key}</CutText>
                </Link>
                <span className="whitespace-nowrap text-muted text-xs tabular-nums">
                  {failed === true
                    ? 'error'
                    : scores
                        .slice(0, 1)
                        .map(
                          ({ evaluator, base, other }) =>
                            `${escapeHidden(evaluator)} ${optionalScore(base)} → ${optionalScore(other)}`,
                        )}
                </span>
              </li>
            ))}
          </ul>
          {regressed.length > MAX_ITEMS && (
            <p className="mt-1 text-muted text-xs">
              and {pluralize(regressed.length - MAX_ITEMS, 'more item')}
            </p>
          )}
        </>
      )}
      {notes.map((note) => (
        <p key={note} className="mt-2 text-warn text-xs">
          <Text>{withoutBackticks(note)}</Text>
        </p>
      ))}
    </Panel>
  );
}

const optionalScore = (value: number | null) => (value === null ? '–' : formatScore(value));

function ScoreChange({ difference: { name, base, other, difference, verdict } }: { difference: Difference }) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto_8rem] items-center sm:grid-cols-[minmax(0,1fr)_auto_auto_8rem] gap-x-3 tabular-nums">
      <CutText>{name}</CutText>
      <span className="text-muted text-xs max-sm:sr-only">
        {formatScore(base)} → {formatScore(other)}
      </span>
      <span className="text-right">{formatSigned(difference)}</span>
      <span className="text-right">
        <DifferenceVerdict verdict={verdict} />
      </span>
    </li>
  );
}
