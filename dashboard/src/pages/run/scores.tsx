// What each evaluator found over all items: its mean with the interval, how much passed, and how the scores are spread.
import type { Overview, Report, ScoreStats } from '../../api/types';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { count, percent, score } from '../../lib/format';
import { own } from '../../lib/own';
import { Histogram, type Range } from './histogram';
import { Interval } from './interval';
import { evaluatorsOf, markOf } from './verdict';

interface ScoresProps {
  overview: Overview;
  /** Called with the part of a histogram whose items are wanted. */
  onRange: (evaluator: string, range: Range) => void;
}

export function Scores({ overview, onRange }: ScoresProps) {
  const { run, histograms } = overview;
  const evaluators = evaluatorsOf(run);
  return (
    <Panel title="Scores">
      <div className="-mx-4 overflow-x-auto px-4">
        <table className="w-full min-w-[34rem]">
          <caption className="sr-only">Scores by evaluator</caption>
          <thead>
            <tr className="border-line border-b text-left text-muted text-xs [&>th]:pb-1.5 [&>th]:font-medium">
              <th scope="col">Evaluator</th>
              <th scope="col" className="px-3">
                Average, with its 95 % interval
              </th>
              <th scope="col" className="px-3 text-right">
                Passed
              </th>
              <th scope="col" className="w-52">
                {run.config.runs > 1 ? 'Items by mean score, 0 to 1' : 'Items by score, 0 to 1'}
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {evaluators.map((name) => (
              <Row
                key={name}
                name={name}
                run={run}
                parts={own(histograms, name)}
                onRange={(range) => onRange(name, range)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {evaluators.length === 0 && <p className="py-2 text-muted">This run has no evaluators.</p>}
    </Panel>
  );
}

interface RowProps {
  name: string;
  run: Report;
  parts: number[] | undefined;
  onRange: (range: Range) => void;
}

function Row({ name, run, parts, onRange }: RowProps) {
  const stats = own(run.summary.scores, name);
  const mark = markOf(run, name);
  return (
    <tr className="[&>*]:py-2.5">
      <th scope="row" className="max-w-48 text-left font-medium [overflow-wrap:anywhere]">
        <Text>{name}</Text>
      </th>
      {stats === undefined ? (
        <td colSpan={3} className="px-3 text-muted">
          No score yet, or its evaluations failed
        </td>
      ) : (
        <>
          <td className="px-3">
            <Average stats={stats} mark={mark} />
          </td>
          <td className="px-3 text-right">
            <Passed stats={stats} mark={mark} runs={run.config.runs} />
          </td>
          <td>{parts && <Histogram name={name} parts={parts} mark={mark} onRange={onRange} />}</td>
        </>
      )}
    </tr>
  );
}

function Average({ stats, mark }: { stats: ScoreStats; mark: number | undefined }) {
  return (
    <div className="flex items-center gap-3 tabular-nums">
      <span className="font-semibold">{score(stats.avg)}</span>
      <div className="w-32">
        <Interval of={stats.ci95 ?? undefined} mean={stats.avg} mark={mark} />
        <p className="mt-1 text-muted text-xs">
          {stats.ci95 ? `${score(stats.ci95.low)} to ${score(stats.ci95.high)}` : 'no interval'}
        </p>
      </div>
    </div>
  );
}

function Passed({ stats, mark, runs }: { stats: ScoreStats; mark: number | undefined; runs: number }) {
  const always = stats.passHatK?.at(-1);
  return (
    <>
      <span className="whitespace-nowrap tabular-nums">
        {stats.passRate == null ? '–' : percent(stats.passRate)}
      </span>
      <span className="block whitespace-nowrap text-muted text-xs">
        {mark === undefined ? `of ${count(stats.count)}` : `mark ${Number(mark.toFixed(3))}`}
      </span>
      {runs > 1 && always !== undefined && (
        <span className="block whitespace-nowrap text-muted text-xs">
          all {runs} runs {percent(always)}
        </span>
      )}
    </>
  );
}
