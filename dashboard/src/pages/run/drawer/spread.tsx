// Every run of a repeated item: how its scores are spread, and which of the runs is looked at.
import clsx from 'clsx';
import { CircleAlert, Clock } from 'lucide-react';
import type { Execution, Item, Report, RunAggregation } from '../../../api/types';
import { Text } from '../../../components/text';
import { duration, score } from '../../../lib/format';
import { own } from '../../../lib/own';
import { evaluatorsOf, markOf } from '../verdict';
import { Strip } from './strip';

interface SpreadProps {
  run: Report;
  item: Item;
  executions: Execution[];
  /** The place of the execution that is shown. */
  shown: number;
  onShow: (place: number) => void;
}

export function Spread({ run, item, executions, shown, onShow }: SpreadProps) {
  const aggregated = item.aggregated?.evaluations ?? {};
  return (
    <div className="flex flex-col gap-3">
      <div className="overflow-x-auto">
        <table className="w-full tabular-nums">
          <caption className="sr-only">Spread over the runs</caption>
          <thead>
            <tr className="border-line border-b text-left text-muted text-xs [&>th]:pb-1 [&>th]:font-medium">
              <th scope="col">Evaluator</th>
              <th scope="col" className="px-3">
                Mean ± deviation
              </th>
              <th scope="col" className="px-3">
                Lowest to highest
              </th>
              <th scope="col" className="w-40">
                Runs from 0 to 1
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {evaluatorsOf(run).map((name) => {
              const spread = own(aggregated, name);
              return spread && <Row key={name} name={name} spread={spread} mark={markOf(run, name)} />;
            })}
          </tbody>
        </table>
      </div>
      <fieldset className="flex flex-wrap gap-1.5">
        <legend className="mb-1.5 text-muted text-xs">Show the run</legend>
        {executions.map((execution, place) => (
          <Pick
            // biome-ignore lint/suspicious/noArrayIndexKey: a run is its place
            key={place}
            number={place + 1}
            execution={execution}
            isShown={place === shown}
            onPick={() => onShow(place)}
          />
        ))}
      </fieldset>
    </div>
  );
}

function Row({ name, spread, mark }: { name: string; spread: RunAggregation; mark: number | undefined }) {
  return (
    <tr className="[&>*]:py-1.5">
      <th scope="row" className="text-left font-normal [overflow-wrap:anywhere]">
        <Text>{name}</Text>
      </th>
      <td className="px-3 whitespace-nowrap">
        {score(spread.mean)} <span className="text-muted">± {score(spread.stddev)}</span>
      </td>
      <td className="px-3 whitespace-nowrap text-muted">
        {score(spread.min)} to {score(spread.max)}
      </td>
      <td>
        <Strip scores={spread.scores} mean={spread.mean} mark={mark} />
      </td>
    </tr>
  );
}

interface PickProps {
  number: number;
  execution: Execution;
  isShown: boolean;
  onPick: () => void;
}

function Pick({ number, execution, isShown, onPick }: PickProps) {
  return (
    <button
      type="button"
      aria-pressed={isShown}
      onClick={onPick}
      className={clsx(
        'inline-flex h-8 items-center gap-1.5 rounded-md border px-2.5 text-xs whitespace-nowrap [&_svg]:size-3.5 [&_svg]:text-bad',
        isShown
          ? 'border-accent bg-accent-soft font-medium text-accent'
          : 'border-line bg-surface hover:bg-sunken',
      )}
    >
      {execution.status === 'error' && <CircleAlert aria-label="failed" />}
      {execution.status === 'timeout' && <Clock aria-label="timed out" />}
      Run {number}
      <span className="text-muted tabular-nums">{duration(execution.latencyMs)}</span>
    </button>
  );
}
