// The evaluations of an item in each run, with reasons.
import type { ComparedItem, ComparedOutput } from '../../../api/types';
import { ReplayMark } from '../../../components/replay-mark';
import { Text, TextBlock } from '../../../components/text';
import { formatDuration, formatScore, formatSigned } from '../../../lib/format';
import { getOwn } from '../../../lib/get-own';
import { itemMark } from '../../../lib/traffic';
import { type ReferenceName, RunLetter, runLabel } from './run-letter';
import { EPSILON } from './score-change';

export function Scores({ item, reference }: { item: ComparedItem; reference: ReferenceName }) {
  const places = item.outputs.flatMap((output, place) => (output === null ? [] : [place]));
  const names = [...new Set(places.flatMap((place) => evaluators(item.outputs[place])))].sort();
  return (
    <table className="w-full table-fixed text-left max-md:block">
      <caption className="sr-only">Evaluations</caption>
      <thead className="text-muted text-xs max-md:sr-only">
        <tr>
          <th scope="col" className="w-40 pb-1 font-medium">
            Evaluator
          </th>
          {places.map((place) => (
            <th key={place} scope="col" className="px-2 pb-1 font-medium">
              <span className="inline-flex items-center gap-2">
                <RunLetter place={place} /> {runLabel(place, reference)}
              </span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line border-line border-t max-md:block">
        {names.map((name) => (
          <tr key={name} className="align-top max-md:block max-md:py-2">
            <th
              scope="row"
              className="py-2 pr-2 font-medium text-xs/5 [overflow-wrap:anywhere] max-md:block max-md:p-0"
            >
              <Text>{name}</Text>
            </th>
            {places.map((place) => (
              <td key={place} className="px-2 py-2 max-md:flex max-md:gap-2 max-md:px-0 max-md:py-1">
                <span className="md:hidden">
                  <RunLetter place={place} />
                </span>
                <EvaluationCell
                  name={name}
                  output={item.outputs[place]}
                  base={place === 0 ? undefined : item.outputs[0]}
                />
              </td>
            ))}
          </tr>
        ))}
        <tr className="max-md:block max-md:py-2">
          <th scope="row" className="py-2 pr-2 font-medium text-muted text-xs/5 max-md:block max-md:p-0">
            Latency
          </th>
          {places.map((place) => (
            <td
              key={place}
              className="px-2 py-2 text-muted text-xs/5 tabular-nums max-md:inline-block max-md:px-0"
            >
              {formatDuration(item.outputs[place]?.latencyMs ?? 0)}
              {(item.outputs[place]?.runs ?? 1) > 1 && `, mean of ${item.outputs[place]?.runs} trials`}{' '}
              <ReplayMark {...itemMark(item.outputs[place]?.traffic)} />
            </td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}

const evaluators = (output: ComparedOutput | null | undefined) =>
  output == null ? [] : [...Object.keys(output.evaluations), ...Object.keys(output.scores)];

interface EvaluationCellProps {
  name: string;
  output: ComparedOutput | null | undefined;
  base: ComparedOutput | null | undefined;
}

function EvaluationCell({ name, output, base }: EvaluationCellProps) {
  const [value, before] = [getOwn(output?.scores, name), getOwn(base?.scores, name)];
  const evaluation = getOwn(output?.evaluations, name);
  const change = value === undefined || before === undefined ? 0 : value - before;
  return (
    <div className="min-w-0">
      <p className="font-medium text-xs/5 tabular-nums">
        {value !== undefined ? (
          formatScore(value)
        ) : evaluation?.notApplicable ? (
          <span className="text-muted">n/a</span>
        ) : (
          <span className="text-bad">no score</span>
        )}
        {Math.abs(change) > EPSILON && (
          // Without colour: for a single item, a change cannot be told from noise.
          <span className="ml-2">{formatSigned(change)}</span>
        )}
      </p>
      {evaluation?.reason != null && (
        <TextBlock className="text-muted text-xs">{evaluation.reason}</TextBlock>
      )}
      {evaluation?.error != null && <TextBlock className="text-bad text-xs">{evaluation.error}</TextBlock>}
    </div>
  );
}
