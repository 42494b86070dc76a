// The changes of the mean scores for the heads of the columns.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { comparisonQuery } from '../../../api/queries';
import type { Comparison, Difference, Overview } from '../../../api/types';
import { DIFFERENCE_MEANINGS } from '../../../components/difference-verdict';
import { formatDateTime } from '../../../lib/format';
import { formatInterval } from './format';
import { referenceName } from './reference';
import { type ReferenceName, runLabel } from './run-letter';

/** The change of a mean, and against what. */
export interface MeanChange {
  value: number;
  /** `vs. baseline`. */
  against: string;
  verdict: Difference['verdict'];
  title: string;
}

/** The changes vs. the reference in compare mode, otherwise vs. the saved baseline; by evaluator. */
export function useMeanChanges(overview: Overview, compared: string[]): Map<string, MeanChange> {
  const isCompared = compared.length > 0;
  const { data } = useQuery({ ...comparisonQuery(compared), enabled: isCompared });
  const { run } = overview;
  return useMemo(
    () =>
      isCompared
        ? meanChanges(data?.comparisons[0], referenceName(run, compared[0]))
        : meanChanges(run.baseline, 'baseline'),
    [isCompared, data, run, compared],
  );
}

function meanChanges(
  comparison: Comparison | null | undefined,
  reference: ReferenceName,
): Map<string, MeanChange> {
  if (comparison == null) return new Map();
  const { base, evaluators } = comparison;
  return new Map(
    evaluators.map((difference) => {
      const interval = formatInterval(difference);
      const title = [
        `${runLabel(0, reference)} ${base.id}, ${formatDateTime(base.timestamp)}`,
        ...(interval === undefined ? [] : [`95% CI ${interval}`]),
        DIFFERENCE_MEANINGS[difference.verdict],
      ].join('\n');
      const { difference: value, verdict } = difference;
      return [difference.name, { value, against: `vs. ${reference}`, verdict, title }];
    }),
  );
}
