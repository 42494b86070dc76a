// What the comparison comes to: the verdicts said first, what speaks against comparing, and all figures.
import { TriangleAlert } from 'lucide-react';
import type { Comparison } from '../../api/types';
import { DifferenceVerdict } from '../../components/difference-verdict';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { DifferenceTable } from './difference-table';
import { hasAdjustedPValues, matchedItems, noChangeText, notableVerdicts } from './explain';
import { LETTERS, RunLetter } from './run-letter';

export function Summary({ comparisons }: { comparisons: Comparison[] }) {
  return (
    <Panel title="Against the baseline">
      <ul className="flex flex-col gap-3 pb-4">
        {comparisons.map((comparison, index) => (
          <li key={LETTERS[index + 1]} className="flex gap-2">
            {comparisons.length > 1 && <RunLetter place={index + 1} />}
            <ComparisonSummary comparison={comparison} />
          </li>
        ))}
      </ul>
      <DifferenceTable comparisons={comparisons} kind="evaluators" />
      <div className="h-4" />
      <DifferenceTable comparisons={comparisons} kind="amounts" />
      {hasAdjustedPValues(comparisons) && (
        <p className="mt-3 text-muted text-xs">
          p-values are corrected by Holm’s method, for all scores and for all amounts. Grey ground: what is
          too little to matter.
        </p>
      )}
    </Panel>
  );
}

function ComparisonSummary({ comparison }: { comparison: Comparison }) {
  const nothing = noChangeText(comparison);
  return (
    <div className="min-w-0 grow">
      {nothing !== undefined && <p className="font-medium">{nothing}</p>}
      <ul className="flex flex-col gap-1">
        {notableVerdicts(comparison).map(({ verdict, names }) => (
          <li key={verdict} className="flex flex-wrap items-baseline gap-x-2">
            <DifferenceVerdict verdict={verdict} />
            <span className="min-w-0 [overflow-wrap:anywhere]">
              in <Text>{names.join(', ')}</Text>
            </span>
          </li>
        ))}
      </ul>
      <p className="mt-2 text-muted text-xs [overflow-wrap:anywhere]">
        Items: <Text>{matchedItems(comparison.items)}</Text>.
      </p>
      {comparison.notes.length > 0 && (
        <ul
          className="mt-2 flex flex-col gap-1 rounded-md bg-warn-soft px-3 py-2 text-warn"
          aria-label="What makes these runs hard to compare"
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
    </div>
  );
}
