// The verdict on a run in one sentence: `Failed: 5 of 6 thresholds missed; 50 of 96 items below pass mark`.
import type { Overview, Report, ThresholdOutcome } from '../../api/types';
import { RUN_VERDICTS } from '../../components/verdict';
import { formatCount, pluralize } from '../../lib/format';
import { itemCounts, verdictOf } from '../../lib/report';

/** The verdict, and the reasons for it. */
export function runSentence(overview: Overview): { verdict: string; reasons: string } {
  const reasons = [...errorReasons(overview), ...thresholdReasons(overview), ...itemReasons(overview)];
  return { verdict: RUN_VERDICTS[verdictOf(overview)].label, reasons: reasons.join('; ') };
}

/** The thresholds that were missed, those with nothing to measure, and inconclusive ones that fail the run. */
export const missedThresholds = (run: Report): ThresholdOutcome[] =>
  (run.ciStatus?.thresholds ?? []).filter(({ finding, passed }) => finding !== 'met' && !passed);

/** Each threshold is counted once. */
export function thresholdCounts(run: Report): {
  all: number;
  met: number;
  missed: number;
  inconclusive: number;
} {
  const outcomes = run.ciStatus?.thresholds ?? [];
  const missed = missedThresholds(run).length;
  const inconclusive = outcomes.filter(({ finding, passed }) => finding === 'inconclusive' && passed).length;
  return { all: outcomes.length, met: outcomes.length - missed - inconclusive, missed, inconclusive };
}

/** Agent errors, timeouts, scoring errors and failed summary functions. */
function errorCounts({ summary }: Report): { count: number; name: string }[] {
  return [
    { count: summary.failedItems - summary.timeouts, name: 'agent error' },
    { count: summary.timeouts, name: 'timeout' },
    { count: summary.evalErrors, name: 'scoring error' },
    { count: Object.keys(summary.summaryErrors ?? {}).length, name: 'summary error' },
  ].filter(({ count }) => count > 0);
}

const errorReasons = ({ run }: Overview) => errorCounts(run).map(({ count, name }) => pluralize(count, name));

function thresholdReasons({ run, state }: Overview): string[] {
  const { all, met, missed, inconclusive } = thresholdCounts(run);
  const set = run.config.thresholds?.length ?? 0;
  if (all === 0) {
    if (set > 0) return state === 'finished' ? [`${pluralize(set, 'threshold')} not evaluated`] : [];
    return run.config.strict || state !== 'finished' ? [] : ['no thresholds set'];
  }
  return [
    missed > 0
      ? `${missed} of ${pluralize(all, 'threshold')} missed`
      : `${met} of ${pluralize(all, 'threshold')} met`,
    ...(inconclusive > 0 ? [`${inconclusive} inconclusive`] : []),
  ];
}

function itemReasons(overview: Overview): string[] {
  const { run, finishedItems, plannedItems, state } = overview;
  const { passed, below } = itemCounts(overview);
  const progress =
    state === 'finished'
      ? []
      : [`${formatCount(finishedItems)} of ${pluralize(plannedItems, 'item')} finished`];
  if (below > 0) {
    const text = `${formatCount(below)} of ${pluralize(finishedItems, 'item')} below pass mark`;
    const isStrict = run.config.strict && state === 'finished';
    return [...progress, isStrict ? `${text}, and the experiment is strict` : text];
  }
  const isComplete = finishedItems > 0 && passed === finishedItems;
  if (!isComplete || run.config.evaluators.length === 0) return progress;
  return [...progress, `all ${pluralize(finishedItems, 'item')} at their pass marks`];
}
