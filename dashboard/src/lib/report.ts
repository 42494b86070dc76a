// The verdict and other values derived from a report.
import type { Overview, Report, RunState, RunVerdict } from '../api/types';

/** The same verdict as in the list of runs: errors take precedence over scores. */
export function verdictOf({ state, run }: Overview): RunVerdict | RunState {
  if (state !== 'finished') return state;
  if (run.partial === true) return 'partial';
  return outcomeOf(run);
}

/** The verdict on a complete run. */
export function outcomeOf({ passed, summary }: Pick<Report, 'passed' | 'summary'>): RunVerdict {
  const summaryErrors = Object.keys(summary.summaryErrors ?? {}).length;
  if (summary.failedItems + summary.evalErrors + summaryErrors > 0) return 'error';
  return passed ? 'passed' : 'failed';
}

/** The pass mark of an evaluator; undefined if the result file has none. */
export function passMarkOf({ config }: Report, evaluator: string): number | undefined {
  return config.passMarks?.[config.evaluators.indexOf(evaluator)];
}

/** The evaluators of a run in their order, including those without a score. */
export function evaluatorsOf({ config, summary }: Report): string[] {
  const others = Object.keys(summary.scores).filter((name) => !config.evaluators.includes(name));
  return [...config.evaluators, ...others];
}

/** The items at their pass marks, below one, and in error: each finished item is counted once, as in the list of runs. */
export function itemCounts({ states, finishedItems }: Overview) {
  const { passed, low: below } = states;
  return { passed, below, errors: Math.max(0, finishedItems - passed - below) };
}
