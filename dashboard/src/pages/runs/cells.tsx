// The values of a run in the table and the cards.
import { GitCommitHorizontal, History, Layers, RotateCcw } from 'lucide-react';
import { Link } from 'react-router';
import type { RunRow } from '../../api/types';
import { Tag } from '../../components/badge';
import { Text } from '../../components/text';
import { Verdict } from '../../components/verdict';
import { formatCost, formatCount, pluralize, shortCommit } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { REPLAY_EXPLANATION } from '../../lib/traffic';

/** A link to the run, with the experiment's name. Shortcut keys move between these links. */
export function RunLink({ run }: { run: RunRow }) {
  return (
    <Link
      to={`/runs/${encodeURIComponent(run.id)}`}
      data-run={run.id}
      title={escapeHidden(run.name)}
      className="min-w-0 truncate font-medium hover:text-accent hover:underline"
    >
      <Text>{run.name}</Text>
    </Link>
  );
}

/** Marks a run with replayed items. */
export function Replayed({ run }: { run: RunRow }) {
  if (run.replayedItems === 0) return null;
  const items = `${formatCount(run.replayedItems)} of ${pluralize(run.totalItems, 'item')} replayed`;
  return (
    <span
      title={`${items}. ${REPLAY_EXPLANATION}`}
      className="inline-flex shrink-0 items-center gap-1 text-muted text-xs"
    >
      <History className="size-3" aria-hidden="true" />
      replayed
    </span>
  );
}

/** Links a variant's run to its group, and marks a run whose stored outputs were scored again. */
export function Origin({ run }: { run: RunRow }) {
  return (
    <>
      {run.runName != null && (
        <span title={escapeHidden(run.runName)} className="min-w-0 truncate text-muted text-xs">
          <Text>{run.runName}</Text>
        </span>
      )}
      {run.isBaseline === true && <Tag>baseline</Tag>}
      {run.variant != null && (
        <Link
          to={`/groups/${encodeURIComponent(run.variant.group)}`}
          title={`All variants of ${escapeHidden(run.variant.experiment)} in this group`}
          className="relative inline-flex shrink-0 items-center gap-1 text-accent text-xs hover:underline"
        >
          <Layers className="size-3" aria-hidden="true" />
          <span className="sr-only">all variants beside </span>
          <span className="max-w-32 truncate">
            <Text>{run.variant.name}</Text>
          </span>
        </Link>
      )}
      {run.rescoredFrom != null && (
        <span
          title={`The stored outputs of run ${run.rescoredFrom} were scored again, without the agent`}
          className="inline-flex shrink-0 items-center gap-1 text-muted text-xs"
        >
          <RotateCcw className="size-3" aria-hidden="true" />
          re-scored
        </span>
      )}
    </>
  );
}

/** The number of tags in a row. */
const MAX_TAGS = 3;

export function Tags({ tags }: { tags: string[] }) {
  if (tags.length === 0) return null;
  const rest = tags.slice(MAX_TAGS);
  return (
    <span className="flex min-w-0 items-center gap-1 overflow-hidden">
      {tags.slice(0, MAX_TAGS).map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
      {rest.length > 0 && (
        <span className="text-muted text-xs" title={rest.map(escapeHidden).join(', ')}>
          +{rest.length}
        </span>
      )}
    </span>
  );
}

const STATUS_LABELS: Record<RunRow['status'], string> = {
  passed: 'passed',
  notEvaluated: 'not evaluated',
  failed: 'failed',
  error: 'error',
};

/** The verdict; for a partial run, also the outcome of the items that were run. */
export function VerdictCell({ run }: { run: RunRow }) {
  return (
    <span className="flex flex-col items-start gap-0.5">
      <Verdict verdict={run.verdict} />
      {run.verdict === 'partial' && (
        <span className="pl-2 text-muted text-xs">{STATUS_LABELS[run.status]}</span>
      )}
    </span>
  );
}

export function Errors({ run }: { run: RunRow }) {
  const errors = run.failedItems + run.evalErrors;
  if (errors === 0) return <span className="text-muted">0</span>;
  const parts = [
    run.failedItems > 0 && `${pluralize(run.failedItems, 'item')} failed or timed out`,
    run.evalErrors > 0 && `${pluralize(run.evalErrors, 'scoring error')}`,
  ];
  return (
    <span className="font-medium text-bad" title={parts.filter(Boolean).join(', ')}>
      {formatCount(errors)}
    </span>
  );
}

/** The total cost; those of agent, judges and simulated users are in the tooltip. */
export function Cost({ run }: { run: RunRow }) {
  const { cost: agent, judgeCost: judge, userCost: users } = run;
  const known = [agent, judge, users].filter((cost) => typeof cost === 'number');
  if (known.length === 0) return <MissingValue label="unknown" />;
  const part = (name: string, usd: number | null | undefined) =>
    `${name} ${typeof usd === 'number' ? formatCost(usd) : 'unknown'}`;
  return (
    <span
      title={`${part('Agent cost', agent)}, ${part('judge cost', judge)}${typeof users === 'number' ? `, ${part('user cost', users)}` : ''}`}
    >
      {formatCost(known.reduce((sum, cost) => sum + cost, 0))}
    </span>
  );
}

/** The commit, marked if there were uncommitted changes. */
export function Commit({ run }: { run: RunRow }) {
  if (!run.gitCommit) return <MissingValue label="no commit" />;
  return (
    <span
      className="inline-flex items-center gap-1 align-middle font-mono text-muted text-xs"
      title={run.gitCommit}
    >
      <GitCommitHorizontal className="size-3.5" aria-hidden="true" />
      {shortCommit(run.gitCommit)}
      {run.gitDirty && (
        <span className="font-semibold text-warn" title="Uncommitted changes">
          <span aria-hidden="true">*</span>
          <span className="sr-only">uncommitted changes</span>
        </span>
      )}
    </span>
  );
}

function MissingValue({ label }: { label: string }) {
  return (
    <span className="text-muted">
      <span aria-hidden="true">–</span>
      <span className="sr-only">{label}</span>
    </span>
  );
}

/** Selects the run for comparison. */
export function SelectCheckbox({
  run,
  selection,
}: {
  run: RunRow;
  selection: { ids: string[]; isFull: boolean; toggle: (id: string) => void };
}) {
  const isSelected = selection.ids.includes(run.id);
  const isDisabled = selection.isFull && !isSelected;
  return (
    <label
      className="-m-2 flex cursor-pointer p-2"
      title={isDisabled ? 'You can compare up to eight runs' : undefined}
    >
      <input
        type="checkbox"
        checked={isSelected}
        disabled={isDisabled}
        onChange={() => selection.toggle(run.id)}
        aria-label={`Select ${escapeHidden(run.name)} (${run.id}) to compare`}
        className="size-4 accent-accent disabled:opacity-40"
      />
    </label>
  );
}
