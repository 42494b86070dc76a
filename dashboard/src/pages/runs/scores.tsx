// The mean scores of a run, with sparklines over the latest runs.
import type { RunRow } from '../../api/types';
import { CutText } from '../../components/cut-text';
import { Sparkline } from '../../components/sparkline';
import { Tooltip } from '../../components/tooltip';
import { formatScore } from '../../lib/format';
import { getOwn } from '../../lib/get-own';
import { useMediaQuery } from '../../lib/use-media-query';

type RunScores = Pick<RunRow, 'avgScores' | 'recentScores'>;

/** The number of scores in a table row, by window width. */
function useColumnCount(): number {
  const isWide = useMediaQuery('(min-width: 87.5rem)');
  const isMedium = useMediaQuery('(min-width: 80rem)');
  return isWide ? 3 : isMedium ? 2 : 1;
}

/** The first scores side by side; the rest in a tooltip. */
export function Scores({ run }: { run: RunScores }) {
  const columns = useColumnCount();
  const names = Object.keys(run.avgScores);
  if (names.length === 0) return <span className="text-muted text-xs">No scores</span>;
  return (
    <div className="flex items-center gap-3">
      {names.slice(0, columns).map((name) => (
        <EvaluatorScore key={name} name={name} run={run} />
      ))}
      {names.length > columns && <MoreScores names={names.slice(columns)} run={run} />}
    </div>
  );
}

export function EvaluatorScore({ name, run }: { name: string; run: RunScores }) {
  const value = getOwn(run.avgScores, name);
  return (
    <div className="w-26 min-w-0">
      <CutText className="text-muted text-xs">{name}</CutText>
      <div className="flex h-5 items-center gap-2 tabular-nums">
        {value === undefined ? '–' : formatScore(value)}
        <Sparkline
          points={(getOwn(run.recentScores, name) ?? []).map((score) => (score === null ? null : { score }))}
          label={`${name} over the latest runs`}
          width={48}
          height={18}
        />
      </div>
    </div>
  );
}

function MoreScores({ names, run }: { names: string[]; run: RunScores }) {
  const list = (
    <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
      {names.map((name) => (
        <div key={name} className="contents">
          <dt className="min-w-0 text-muted">
            <CutText>{name}</CutText>
          </dt>
          <dd className="tabular-nums">{formatScore(getOwn(run.avgScores, name) ?? Number.NaN)}</dd>
        </div>
      ))}
    </dl>
  );
  return (
    <Tooltip content={list}>
      <button
        type="button"
        aria-label={`${names.length} more scores`}
        className="rounded-md bg-sunken px-1.5 py-0.5 text-muted text-xs hover:text-text"
      >
        +{names.length}
      </button>
    </Tooltip>
  );
}
