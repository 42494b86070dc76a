// The summary of a comparison: notable verdicts, warnings, and all differences.
import { TriangleAlert } from 'lucide-react';
import type { Comparison } from '../../api/types';
import { VerdictNames } from '../../components/difference-verdict';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { formatDate } from '../../lib/format';
import { DifferenceTable } from './difference-table';
import { DivergedItems } from './diverged-items';
import { hasAdjustedPValues, matchedItems, noChangeText, notableVerdicts } from './explain';
import { LETTERS, RunLetter } from './run-letter';

export function Summary({ comparisons }: { comparisons: Comparison[] }) {
  const base = comparisons[0]?.base;
  return (
    <Panel title={`Change vs. run A${base ? ` (${base.id}, ${formatDate(base.timestamp)})` : ''}`}>
      <ul className="flex flex-col gap-3 pb-4">
        {comparisons.map((comparison, index) => (
          <li key={LETTERS[index + 1]} className="flex gap-2">
            {comparisons.length > 1 && <RunLetter place={index + 1} />}
            <ComparisonSummary comparison={comparison} letter={LETTERS[index + 1] ?? ''} />
          </li>
        ))}
      </ul>
      <DifferenceTable comparisons={comparisons} kind="evaluators" />
      <div className="h-4" />
      <DifferenceTable comparisons={comparisons} kind="amounts" />
      {hasAdjustedPValues(comparisons) && (
        <p className="mt-3 text-muted text-xs">
          p-values are Holm-corrected, separately for scores and metrics. Grey band: negligible difference.
        </p>
      )}
    </Panel>
  );
}

function ComparisonSummary({ comparison, letter }: { comparison: Comparison; letter: string }) {
  const noChange = noChangeText(comparison);
  return (
    <div className="min-w-0 grow">
      {noChange !== undefined && <p className="font-medium">{noChange}</p>}
      <ul className="flex flex-col gap-1">
        {notableVerdicts(comparison).map(({ verdict, names }) => (
          <li key={verdict}>
            <VerdictNames verdict={verdict} names={names} />
          </li>
        ))}
      </ul>
      <p className="mt-2 text-muted text-xs [overflow-wrap:anywhere]">
        Items: <Text>{matchedItems(comparison.items, letter)}</Text>.
      </p>
      {comparison.notes.length > 0 && (
        <ul
          className="mt-2 flex flex-col gap-1 rounded-md bg-warn-soft px-3 py-2 text-warn"
          aria-label="Comparison warnings"
        >
          {comparison.notes.map((note) => (
            <li key={note} className="flex gap-2">
              <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
              <span className="min-w-0 first-letter:uppercase [overflow-wrap:anywhere]">
                <Text>{note}</Text>
              </span>
            </li>
          ))}
        </ul>
      )}
      <DivergedItems asked={comparison.asked} />
    </div>
  );
}
