// The values of an experiment in the table and the cards.
import clsx from 'clsx';
import { GitCompareArrows } from 'lucide-react';
import { Link } from 'react-router';
import type { BaselineChange, ExperimentRow } from '../../api/types';
import { CutText } from '../../components/cut-text';
import { DIFFERENCE_COLOURS, DIFFERENCE_LABELS, DIFFERENCE_ORDER } from '../../components/difference-verdict';
import { Sparkline } from '../../components/sparkline';
import { DateTime } from '../../components/time';
import { Tooltip } from '../../components/tooltip';
import { Verdict } from '../../components/verdict';
import { comparisonUrl, experimentUrl, runUrl } from '../../lib/addresses';
import { costFormat, formatScore, formatSigned, pluralize } from '../../lib/format';
import { costsOf, MissingValue } from '../runs/cells';

type CellProps = { experiment: ExperimentRow };

/** A link to the experiment. Shortcut keys move between these links. */
export function ExperimentLink({ experiment: { name } }: CellProps) {
  return (
    <Link
      to={experimentUrl(name)}
      data-row={name}
      className="flex min-w-0 font-medium hover:text-accent hover:underline"
    >
      <CutText>{name}</CutText>
    </Link>
  );
}

/** The verdict on the latest run, which links to it, with its date. */
export function LatestRun({ experiment: { latest } }: CellProps) {
  return (
    <Link
      to={runUrl(latest.id)}
      className="group inline-flex flex-wrap items-center gap-x-2 gap-y-0.5 rounded"
    >
      <span className="sr-only">Latest run: </span>
      <Verdict verdict={latest.verdict} />
      <span className="text-muted group-hover:text-accent group-hover:underline">
        <DateTime timestamp={latest.timestamp} />
      </span>
    </Link>
  );
}

/** A link to the regressions of the latest run against the run before. */
export function RegressionsLink({ experiment: { latest, recent } }: CellProps) {
  const previous = recent.filter(({ id }) => id !== latest.id).at(-1);
  if (previous === undefined) return null;
  return (
    <Link
      to={comparisonUrl(latest.id, [previous.id], 'regressed')}
      title="The items that regressed since the run before"
      className="inline-flex items-center gap-1 rounded text-accent text-xs hover:underline"
    >
      <GitCompareArrows className="size-3.5" aria-hidden="true" />
      Compare with previous
    </Link>
  );
}

/** The mean scores of the latest runs as a line. */
export function RecentScores({ experiment: { recent }, width }: CellProps & { width: number }) {
  const points = recent.map(({ score, low, high }) =>
    typeof score === 'number' ? { score, low, high } : null,
  );
  const [first, second] = points.filter((point) => point !== null);
  if (first === undefined) return <span className="text-muted text-xs">No scores</span>;
  if (second === undefined) {
    return (
      <span title="Mean of the scores in the only run with scores" className="tabular-nums">
        {formatScore(first.score)} <span className="text-muted text-xs">(1 run)</span>
      </span>
    );
  }
  return (
    <Sparkline
      hasScale
      points={points}
      width={width}
      height={36}
      label={`Mean of the scores in the latest ${pluralize(recent.length, 'run')}, with its 95% CI`}
    />
  );
}

type ScoreChange = BaselineChange['scores'][string];

/** The changes of a row; the others are in the tooltip. */
const MAX_CHANGES = 3;

/** The number of lines that the changes take. */
export const changeLines = ({ change }: ExperimentRow) =>
  Math.max(1, Math.min(MAX_CHANGES, Object.keys(change?.scores ?? {}).length));

/** The changes of the latest run against the saved baseline, one score per line. */
export function Changes({ experiment: { change, latest } }: CellProps) {
  if (latest.isBaseline === true || change?.baselineRun === latest.id) {
    return <span className="text-muted text-xs">The latest run is the baseline</span>;
  }
  // There is none, or it was saved after the run.
  if (change == null) return <span className="text-muted text-xs">Not compared with a baseline</span>;
  const scores = Object.entries(change.scores).sort(
    ([, one], [, other]) => DIFFERENCE_ORDER.indexOf(one.verdict) - DIFFERENCE_ORDER.indexOf(other.verdict),
  );
  const isCut = scores.length > MAX_CHANGES;
  const shown = isCut ? scores.slice(0, MAX_CHANGES - 1) : scores;
  return (
    <div className="text-xs leading-5">
      <ChangeList scores={shown} />
      {isCut && (
        <Tooltip content={<ChangeList scores={scores} />}>
          <button type="button" className="rounded text-muted hover:text-text hover:underline">
            {pluralize(scores.length - shown.length, 'more score')}
          </button>
        </Tooltip>
      )}
    </div>
  );
}

function ChangeList({ scores }: { scores: [string, ScoreChange][] }) {
  return (
    <ul className="grid min-w-0 grid-cols-[minmax(0,1fr)_auto_auto] gap-x-2">
      {scores.map(([name, { change, low, high, verdict }]) => (
        <li
          key={name}
          className="col-span-3 grid min-w-0 grid-cols-subgrid"
          title={
            typeof low === 'number' && typeof high === 'number'
              ? `95% CI ${formatSigned(low)} to ${formatSigned(high)}`
              : undefined
          }
        >
          <CutText className="text-muted">{name}</CutText>
          <span className={clsx('text-right tabular-nums', DIFFERENCE_COLOURS[verdict])}>
            {formatSigned(change)}
          </span>
          <span className={DIFFERENCE_COLOURS[verdict]}>{DIFFERENCE_LABELS[verdict]}</span>
        </li>
      ))}
    </ul>
  );
}

/** The agent cost and the total cost of the latest run, in the same precision. */
export function Costs({ experiment: { latest } }: CellProps) {
  const { agent, total } = costsOf(latest);
  const format = costFormat([agent, total]);
  return (
    <dl className="inline-grid grid-cols-[auto_auto] gap-x-2 tabular-nums">
      <dt className="text-left text-muted text-xs/5">agent</dt>
      <dd>{agent === undefined ? <MissingValue label="unknown" /> : format(agent)}</dd>
      <dt className="text-left text-muted text-xs/5">total</dt>
      <dd>{total === undefined ? <MissingValue label="unknown" /> : format(total)}</dd>
    </dl>
  );
}
