// The result of a comparison: verdicts, warnings, and all differences when unfolded.

import clsx from 'clsx';
import { TriangleAlert } from 'lucide-react';
import type { Comparison, Difference } from '../../../api/types';
import {
  DIFFERENCE_COLOURS,
  DIFFERENCE_ORDER,
  DifferenceVerdict,
  VerdictNames,
} from '../../../components/difference-verdict';
import { Disclosure } from '../../../components/disclosure';
import { Text } from '../../../components/text';
import { withoutBackticks } from '../../../lib/texts';
import { useMediaQuery } from '../../../lib/use-media-query';
import { DifferenceTable } from './difference-table';
import { DivergedItems } from './diverged-items';
import { hasAdjustedPValues, matchedItems, noChangeText, notableVerdicts } from './explain';
import { formatInterval, formatPValue, formatSignedValue, metricName } from './format';
import { LETTERS, type ReferenceName, RunLetter, runInSentence } from './run-letter';

interface SummaryProps {
  comparisons: Comparison[];
  reference: ReferenceName;
}

export function Summary({ comparisons, reference }: SummaryProps) {
  const [only] = comparisons.length === 1 ? comparisons : [];
  const isNarrow = useMediaQuery('(max-width: 39.99rem)');
  const items = comparisons.map((comparison, index) => {
    const names = matchedItems(comparison.items, `the ${reference}`, runInSentence(index + 1, reference));
    return `${only === undefined ? `${LETTERS[index + 1]}: ` : ''}${names}.`;
  });
  return (
    <div className="flex flex-col gap-1">
      <ul className="flex flex-col gap-1.5">
        {comparisons.map((comparison, index) => (
          <li key={LETTERS[index + 1]} className="flex gap-2">
            {only === undefined && <RunLetter place={index + 1} />}
            <div className="min-w-0 grow">
              {only === undefined || isNarrow ? (
                <Verdicts comparison={comparison} />
              ) : (
                <Changes differences={only.evaluators} />
              )}
              <Notes comparison={comparison} />
            </div>
          </li>
        ))}
      </ul>
      <Disclosure
        title="Intervals and metrics"
        note={
          !isNarrow && (
            <span className="min-w-0 text-muted text-xs tabular-nums [overflow-wrap:anywhere]">
              {only !== undefined && only.amounts.length > 0 && (
                <>
                  Per item: <AmountChanges differences={only.amounts} />
                </>
              )}
              <Text>{items.join(' ')}</Text>
            </span>
          )
        }
      >
        {isNarrow && (
          <p className="text-muted text-xs [overflow-wrap:anywhere]">
            <Text>{items.join(' ')}</Text>
          </p>
        )}
        <DifferenceTable comparisons={comparisons} kind="evaluators" reference={reference} />
        <div className="h-2" />
        <DifferenceTable comparisons={comparisons} kind="amounts" reference={reference} />
        {hasAdjustedPValues(comparisons) && (
          <p className="mt-2 mb-1 text-muted text-xs">
            p-values are Holm-corrected, separately for scores and metrics. Grey band: negligible difference.
          </p>
        )}
      </Disclosure>
    </div>
  );
}

/** The verdicts of one of several runs. */
function Verdicts({ comparison }: { comparison: Comparison }) {
  const noChange = noChangeText(comparison);
  return (
    <ul className="flex flex-wrap items-baseline gap-x-5 gap-y-1">
      {noChange !== undefined && <li>{noChange}</li>}
      {notableVerdicts(comparison).map(({ verdict, names }) => (
        <li key={verdict} className="min-w-0">
          <VerdictNames verdict={verdict} names={names} />
        </li>
      ))}
    </ul>
  );
}

/** Each difference in a few words, with its CI and p-value, notable ones first. */
function Changes({ differences }: { differences: Difference[] }) {
  if (differences.length === 0)
    return <p className="font-medium">Nothing to compare: no score is in both runs.</p>;
  const sorted = differences.toSorted(
    (a, b) => DIFFERENCE_ORDER.indexOf(a.verdict) - DIFFERENCE_ORDER.indexOf(b.verdict),
  );
  return (
    <ul aria-label="Changes of scores" className="flex flex-wrap items-center gap-x-6 gap-y-1">
      {sorted.map((difference) => (
        <li key={metricName(difference)} className="flex min-w-0 flex-wrap items-center gap-x-2 tabular-nums">
          <DifferenceVerdict verdict={difference.verdict} />
          <span className="min-w-0 font-medium [overflow-wrap:anywhere]">
            <Text>{metricName(difference)}</Text>
          </span>
          <span className={clsx('font-semibold', DIFFERENCE_COLOURS[difference.verdict])}>
            {formatSignedValue(difference, difference.difference)}
          </span>
          <span className="text-muted text-xs whitespace-nowrap max-sm:hidden">{statistics(difference)}</span>
        </li>
      ))}
    </ul>
  );
}

function statistics(difference: Difference): string {
  const interval = formatInterval(difference);
  const facts = [
    interval === undefined ? 'no CI' : `95% CI ${interval}`,
    ...(difference.pAdjusted === null ? [] : [`p ${formatPValue(difference.pAdjusted)}`]),
  ];
  return facts.join(', ');
}

/** The changes of latency, tokens and agent cost; those beyond noise are coloured. */
function AmountChanges({ differences }: { differences: Difference[] }) {
  return differences.map((difference) => (
    <span key={metricName(difference)}>
      <Text>{metricName(difference)}</Text>{' '}
      <span className={clsx('font-medium', DIFFERENCE_COLOURS[difference.verdict])}>
        {formatSignedValue(difference, difference.difference)}
      </span>
      {' · '}
    </span>
  ));
}

/** Warnings, and the items that asked the model something else. */
function Notes({ comparison }: { comparison: Comparison }) {
  return (
    <>
      {comparison.notes.length > 0 && (
        <ul
          className="mt-1.5 flex flex-col gap-1 rounded-md bg-warn-soft px-3 py-1.5 text-warn text-xs/5"
          aria-label="Comparison warnings"
        >
          {comparison.notes.map((note) => (
            <li key={note} className="flex gap-2">
              <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
              <span className="min-w-0 first-letter:uppercase [overflow-wrap:anywhere]">
                <Text>{withoutBackticks(note)}</Text>
              </span>
            </li>
          ))}
        </ul>
      )}
      <DivergedItems asked={comparison.asked} />
    </>
  );
}
