// The averages of a run's evaluators, with how they went over the runs before.
import type { RunRow } from '../../api/types';
import { Sparkline } from '../../components/sparkline';
import { Text } from '../../components/text';
import { Tooltip } from '../../components/tooltip';
import { formatScore } from '../../lib/format';
import { getOwn } from '../../lib/get-own';
import { escapeHidden } from '../../lib/texts';
import { useMediaQuery } from '../../lib/use-media-query';

type RunScores = Pick<RunRow, 'avgScores' | 'recentScores'>;

/** How many evaluators have a place in a row of the table, by the width of the window. */
function useColumnCount(): number {
  const isWide = useMediaQuery('(min-width: 87.5rem)');
  const isMiddling = useMediaQuery('(min-width: 80rem)');
  return isWide ? 3 : isMiddling ? 2 : 1;
}

/** The first evaluators side by side, the rest when asked for. */
export function Scores({ run: of }: { run: RunScores }) {
  const places = useColumnCount();
  const names = Object.keys(of.avgScores);
  if (names.length === 0) return <span className="text-muted text-xs">No scores</span>;
  return (
    <div className="flex items-center gap-3">
      {names.slice(0, places).map((name) => (
        <EvaluatorScore key={name} name={name} of={of} />
      ))}
      {names.length > places && <MoreScores names={names.slice(places)} of={of} />}
    </div>
  );
}

export function EvaluatorScore({ name, of }: { name: string; of: RunScores }) {
  const value = getOwn(of.avgScores, name);
  return (
    <div className="w-25 min-w-0">
      <div className="truncate text-muted text-xs" title={escapeHidden(name)}>
        <Text>{name}</Text>
      </div>
      <div className="flex h-5 items-center gap-2 tabular-nums">
        {value === undefined ? '–' : formatScore(value)}
        <Sparkline
          values={getOwn(of.recentScores, name) ?? []}
          label={`${escapeHidden(name)} over the last runs`}
        />
      </div>
    </div>
  );
}

function MoreScores({ names, of }: { names: string[]; of: RunScores }) {
  const list = (
    <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
      {names.map((name) => (
        <div key={name} className="contents">
          <dt className="min-w-0 truncate text-muted">
            <Text>{name}</Text>
          </dt>
          <dd className="tabular-nums">{formatScore(getOwn(of.avgScores, name) ?? Number.NaN)}</dd>
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
