// The trials of an item: buttons to select one, and their scores.
import clsx from 'clsx';
import { CircleAlert, Clock, RotateCcw } from 'lucide-react';
import type { Execution, Item, Report, TrialStats } from '../../../api/types';
import { Text } from '../../../components/text';
import { formatDuration, formatScore } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { evaluatorsOf, passMarkOf } from '../../../lib/report';
import { DotPlot } from './dot-plot';
import { attemptsOf } from './item';

interface TrialPickerProps {
  trials: Execution[];
  /** The index of the selected trial. */
  shown: number;
  onShow: (place: number) => void;
}

/** Buttons to select a trial; nothing if there is only one. */
export function TrialPicker({ trials, shown, onShow }: TrialPickerProps) {
  if (trials.length < 2) return null;
  return (
    <fieldset className="flex min-w-0 gap-1.5 overflow-x-auto p-0.5">
      <legend className="sr-only">Trial</legend>
      {trials.map((execution, place) => (
        <TrialButton
          // biome-ignore lint/suspicious/noArrayIndexKey: trials are identified by their index
          key={place}
          number={place + 1}
          execution={execution}
          isShown={place === shown}
          onPick={() => onShow(place)}
        />
      ))}
    </fieldset>
  );
}

/** The mean, SD and range of each evaluator's scores over all trials. */
export function TrialScores({ run, item }: { run: Report; item: Item }) {
  const aggregated = item.aggregated?.evaluations ?? {};
  return (
    <div className="overflow-x-auto">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard */}
      <table className="w-full tabular-nums" tabIndex={0}>
        <caption className="sr-only">Scores over all trials</caption>
        <thead>
          <tr className="border-line border-b text-left text-muted text-xs [&>th]:pb-1 [&>th]:font-medium">
            <th scope="col">Evaluator</th>
            <th scope="col" className="px-3">
              Mean ± SD
            </th>
            <th scope="col" className="px-3">
              Range
            </th>
            <th scope="col" className="w-40" title="Trials by score, from 0 to 1">
              Distribution
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {evaluatorsOf(run).map((name) => {
            const spread = getOwn(aggregated, name);
            return spread && <Row key={name} name={name} spread={spread} passMark={passMarkOf(run, name)} />;
          })}
        </tbody>
      </table>
    </div>
  );
}

function Row({ name, spread, passMark }: { name: string; spread: TrialStats; passMark: number | undefined }) {
  return (
    <tr className="[&>*]:py-1.5">
      <th scope="row" className="text-left font-normal [overflow-wrap:break-word]">
        <Text>{name}</Text>
      </th>
      <td className="px-3 whitespace-nowrap">
        {formatScore(spread.mean)} <span className="text-muted">± {formatScore(spread.stddev)}</span>
      </td>
      <td className="px-3 whitespace-nowrap text-muted">
        {formatScore(spread.min)} to {formatScore(spread.max)}
      </td>
      <td>
        <DotPlot scores={spread.scores} mean={spread.mean} passMark={passMark} />
      </td>
    </tr>
  );
}

interface TrialButtonProps {
  number: number;
  execution: Execution;
  isShown: boolean;
  onPick: () => void;
}

function TrialButton({ number, execution, isShown, onPick }: TrialButtonProps) {
  return (
    <button
      type="button"
      aria-pressed={isShown}
      onClick={onPick}
      className={clsx(
        'inline-flex h-7 shrink-0 items-center gap-1.5 rounded-md border px-2.5 text-xs whitespace-nowrap [&_svg]:size-3.5',
        isShown
          ? 'border-accent bg-accent-soft font-medium text-accent'
          : 'border-line bg-surface hover:bg-sunken',
      )}
    >
      {execution.status === 'error' && <CircleAlert aria-label="failed" className="text-bad" />}
      {execution.status === 'timeout' && <Clock aria-label="timed out" className="text-bad" />}
      {attemptsOf(execution) > 1 && <RotateCcw aria-label="retried" className="text-warn" />}
      Trial {number}
      <span className="text-muted tabular-nums">{formatDuration(execution.latencyMs)}</span>
    </button>
  );
}
