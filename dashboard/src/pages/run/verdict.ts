// What became of a run, from its report.
import type { Overview, Report, RunState, RunVerdict } from '../../api/types';

/** The same as the list of runs has it: errors weigh more than scores. */
export function verdictOf({ state, run }: Overview): RunVerdict | RunState {
  if (state !== 'finished') return state;
  if (run.partial === true) return 'partial';
  return outcomeOf(run);
}

function outcomeOf({ passed, summary }: Report): RunVerdict {
  if (summary.failedItems > 0 || summary.evalErrors > 0) return 'error';
  return passed ? 'passed' : 'failed';
}

/** The run that it is best compared with: its baseline or, without one, the run before it. */
export function comparisonTarget({ run, previous }: Overview): { id: string; name: string } | undefined {
  const base = run.baseline?.base.id;
  if (base !== undefined) return { id: base, name: 'baseline' };
  return previous ? { id: previous.id, name: 'previous run' } : undefined;
}

/** The score from which an output passes an evaluator; undefined where the file does not say it. */
export function passMarkOf({ config }: Report, evaluator: string): number | undefined {
  return config.passMarks?.[config.evaluators.indexOf(evaluator)];
}

/** The evaluators of a run in their order, those too that gave no score. */
export function evaluatorsOf({ config, summary }: Report): string[] {
  const others = Object.keys(summary.scores).filter((name) => !config.evaluators.includes(name));
  return [...config.evaluators, ...others];
}
