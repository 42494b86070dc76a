// Why an item did not pass: the agent's error, and the evaluators whose score is missing or below the pass mark.
import type { Evaluation, Execution, Item, Report } from '../../../api/types';
import { getOwn } from '../../../lib/get-own';
import { evaluatorsOf, passMarkOf } from '../../../lib/report';
import { trialsOf } from './item';

export interface Failure {
  evaluator: string;
  evaluation: Evaluation;
  passMark: number | undefined;
  /** The index of the trial. */
  trial: number;
}

/** One for each evaluator that failed in a trial: in the selected one, or in the first of the others. */
export function failuresOf(run: Report, item: Item, selected: number): Failure[] {
  const trials = trialsOf(item);
  const order = [selected, ...trials.keys()];
  const names = new Set([
    ...evaluatorsOf(run),
    ...trials.flatMap(({ evaluations }) => Object.keys(evaluations)),
  ]);
  return [...names].flatMap((evaluator) => {
    const passMark = passMarkOf(run, evaluator);
    const trial = order.find((place) => {
      const evaluation = evaluationOf(trials[place], evaluator);
      return evaluation !== undefined && isFailure(evaluation, passMark);
    });
    const evaluation = trial === undefined ? undefined : evaluationOf(trials[trial], evaluator);
    return trial === undefined || evaluation === undefined
      ? []
      : [{ evaluator, evaluation, passMark, trial }];
  });
}

const evaluationOf = (execution: Execution | undefined, evaluator: string) =>
  execution === undefined ? undefined : getOwn(execution.evaluations, evaluator);

function isFailure({ score, notApplicable }: Evaluation, passMark: number | undefined): boolean {
  if (notApplicable === true) return false;
  return score == null || (passMark !== undefined && score < passMark);
}

/** The agent's error in the selected trial, or in the first of the others that has one. */
export function agentErrorOf(
  item: Item,
  selected: number,
): { trial: number; execution: Execution } | undefined {
  const trials = trialsOf(item);
  const trial = [selected, ...trials.keys()].find((place) => trials[place]?.error != null);
  const execution = trial === undefined ? undefined : trials[trial];
  return trial === undefined || execution === undefined ? undefined : { trial, execution };
}
