// The scores of each evaluator: mean, CI, pass rate and distribution.
import type { Overview, Report, ScoreStats } from '../../api/types';
import { Interval } from '../../components/interval';
import { Panel } from '../../components/panel';
import { Text } from '../../components/text';
import { formatCount, formatPercent, formatScore } from '../../lib/format';
import { getOwn } from '../../lib/get-own';
import { evaluatorsOf, passMarkOf } from '../../lib/report';
import { Distribution } from './distribution';
import type { ScoreRange } from './items/filter';

interface ScoresProps {
  overview: Overview;
  /** Called with the clicked bin of a histogram. */
  onRange: (evaluator: string, range: ScoreRange) => void;
  /** Whether only the items of a bin are shown. */
  isShown: (evaluator: string, range: ScoreRange) => boolean;
}

export function Scores({ overview, onRange, isShown }: ScoresProps) {
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
                Mean (95% CI)
              </th>
              <th scope="col" className="px-3 text-right">
                Pass rate
              </th>
              <th
                scope="col"
                className="w-52"
                title={`Items by ${run.config.runs > 1 ? 'mean score' : 'score'}, from 0 to 1`}
              >
                Distribution
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {evaluators.map((name) => (
              <Row
                key={name}
                name={name}
                run={run}
                bins={getOwn(histograms, name)}
                onRange={(range) => onRange(name, range)}
                isShown={(range) => isShown(name, range)}
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
  bins: number[] | undefined;
  onRange: (range: ScoreRange) => void;
  isShown: (range: ScoreRange) => boolean;
}

function Row({ name, run, bins, onRange, isShown }: RowProps) {
  const stats = getOwn(run.summary.scores, name);
  const passMark = passMarkOf(run, name);
  const notApplicable = getOwn(run.summary.notApplicable, name) ?? 0;
  return (
    <tr className="[&>*]:py-2.5">
      <th scope="row" className="max-w-48 text-left font-medium [overflow-wrap:anywhere]">
        <span className="block min-w-24">
          <Text>{name}</Text>
        </span>
        {notApplicable > 0 && (
          <span
            className="block font-normal text-muted text-xs"
            title="Evaluations of items to which the evaluator does not apply; they count neither as scores nor as errors"
          >
            {formatCount(notApplicable)} n/a
          </span>
        )}
      </th>
      {stats === undefined ? (
        <td colSpan={3} className="px-3 text-muted">
          {notApplicable > 0 ? 'No scores' : 'No scores yet, or all evaluations failed'}
        </td>
      ) : (
        <>
          <td className="px-3">
            <Mean stats={stats} passMark={passMark} />
          </td>
          <td className="px-3 text-right">
            <PassRate stats={stats} passMark={passMark} trials={run.config.runs} />
          </td>
          <td>
            {bins && (
              <Distribution
                name={name}
                bins={bins}
                passMark={passMark}
                height={36}
                isShown={isShown}
                onRange={onRange}
              />
            )}
          </td>
        </>
      )}
    </tr>
  );
}

function Mean({ stats, passMark }: { stats: ScoreStats; passMark: number | undefined }) {
  return (
    <div className="flex items-center gap-3 tabular-nums">
      <span className="font-semibold">{formatScore(stats.avg)}</span>
      <div className="w-32">
        <Interval ci95={stats.ci95 ?? undefined} mean={stats.avg} passMark={passMark} />
        <p className="mt-1 text-muted text-xs">
          {stats.ci95 ? `${formatScore(stats.ci95.low)} to ${formatScore(stats.ci95.high)}` : 'no CI'}
        </p>
      </div>
    </div>
  );
}

function PassRate({
  stats,
  passMark,
  trials,
}: {
  stats: ScoreStats;
  passMark: number | undefined;
  trials: number;
}) {
  const always = stats.passHatK?.at(-1);
  return (
    <>
      <span className="whitespace-nowrap tabular-nums">
        {stats.passRate == null ? '–' : formatPercent(stats.passRate)}
      </span>
      <span className="block whitespace-nowrap text-muted text-xs">
        {passMark === undefined
          ? `of ${formatCount(stats.count)}`
          : `Pass mark ${Number(passMark.toFixed(3))}`}
      </span>
      {trials > 1 && always !== undefined && (
        <span className="block whitespace-nowrap text-muted text-xs">
          all {trials} trials: {formatPercent(always)}
        </span>
      )}
    </>
  );
}
