// The values of a run in the table and the cards.
import clsx from 'clsx';
import { GitCommitHorizontal, History, Layers, RotateCcw } from 'lucide-react';
import { Link } from 'react-router';
import type { RunRow } from '../../api/types';
import { Badge, Tag } from '../../components/badge';
import { CutText } from '../../components/cut-text';
import { Text } from '../../components/text';
import { Verdict } from '../../components/verdict';
import { groupUrl, runUrl } from '../../lib/addresses';
import { costFormat, formatCost, formatCount, pluralize, shortCommit } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { REPLAY_EXPLANATION } from '../../lib/traffic';

/** A link to the run, with the experiment's name. Shortcut keys move between these links. */
export function RunLink({ run }: { run: RunRow }) {
  return (
    <Link
      to={runUrl(run.id)}
      data-row={run.id}
      className="flex min-w-0 font-medium hover:text-accent hover:underline"
    >
      <CutText>{run.name}</CutText>
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

/** What tells a run from others: its name, whether it is the baseline, its variant, and whether it was re-scored. */
export function Origin({ run }: { run: RunRow }) {
  return (
    <>
      {run.runName != null && <CutText className="max-w-40 text-muted text-xs">{run.runName}</CutText>}
      {run.isBaseline === true && <Badge tone="accent">Baseline</Badge>}
      <VariantLink run={run} />
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

/** Links a variant's run to the runs of all variants. */
export function VariantLink({ run }: { run: RunRow }) {
  if (run.variant == null) return null;
  return (
    <Link
      to={groupUrl(run.variant.group)}
      title={`All variants of ${escapeHidden(run.variant.experiment)} in this group`}
      className="relative inline-flex shrink-0 items-center gap-1 text-accent text-xs hover:underline"
    >
      <Layers className="size-3" aria-hidden="true" />
      <span className="sr-only">all variants beside </span>
      <CutText className="max-w-32">{run.variant.name}</CutText>
    </Link>
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
        <span className="whitespace-nowrap text-muted text-xs">{STATUS_LABELS[run.status]}</span>
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

/** The agent cost and the total cost of a run; undefined if unknown. */
export function costsOf({ cost, judgeCost, userCost }: Pick<RunRow, 'cost' | 'judgeCost' | 'userCost'>) {
  const known = [cost, judgeCost, userCost].filter((part) => typeof part === 'number');
  return {
    agent: cost ?? undefined,
    total: known.length === 0 ? undefined : known.reduce((sum, part) => sum + part, 0),
  };
}

/** The parts of the total cost in words. */
function costParts({ cost, judgeCost, userCost }: RunRow): string {
  const format = costFormat([cost, judgeCost, userCost]);
  const part = (name: string, usd: number | null | undefined) =>
    `${name} ${typeof usd === 'number' ? format(usd) : 'unknown'}`;
  const users = typeof userCost === 'number' ? `, ${part('user cost', userCost)}` : '';
  return `${part('Agent cost', cost)}, ${part('judge cost', judgeCost)}${users}`;
}

/** The total cost; its parts are in the tooltip. */
export function TotalCost({ run, format = formatCost }: { run: RunRow; format?: (usd: number) => string }) {
  const { total } = costsOf(run);
  if (total === undefined) return <MissingValue label="unknown" />;
  return <span title={costParts(run)}>{format(total)}</span>;
}

/** The number of items at their pass marks, and those below or with errors. */
export function ItemCounts({ run, isInline = false }: { run: RunRow; isInline?: boolean }) {
  const { passedItems, lowItems, totalItems } = run;
  const errors = Math.max(0, totalItems - passedItems - lowItems);
  const look = clsx('text-xs', isInline ? 'ml-2' : 'block');
  return (
    <span className="tabular-nums">
      {formatCount(passedItems)}{' '}
      <span className="text-muted">
        of {formatCount(totalItems)}
        {isInline && ' at pass marks'}
      </span>
      {lowItems > 0 && <span className={clsx(look, 'text-warn')}>{formatCount(lowItems)} below</span>}
      {errors > 0 && <span className={clsx(look, 'text-bad')}>{pluralize(errors, 'error')}</span>}
    </span>
  );
}

/** The commit, marked if there were uncommitted changes, and the branch. */
export function Commit({ run }: { run: RunRow }) {
  if (!run.gitCommit) return <MissingValue label="no commit" />;
  const branch = run.gitBranch ?? undefined;
  return (
    <span
      className="inline-flex max-w-full min-w-0 items-center gap-1 align-middle font-mono text-muted text-xs"
      title={branch === undefined ? run.gitCommit : `${run.gitCommit} on ${escapeHidden(branch)}`}
    >
      <GitCommitHorizontal className="size-3.5 shrink-0" aria-hidden="true" />
      {shortCommit(run.gitCommit)}
      {run.gitDirty && (
        <span className="font-semibold text-warn" title="Uncommitted changes">
          <span aria-hidden="true">*</span>
          <span className="sr-only">uncommitted changes</span>
        </span>
      )}
      {branch !== undefined && (
        <span className="max-w-28 min-w-0 truncate font-sans">
          <span className="sr-only">on </span>
          <Text>{branch}</Text>
        </span>
      )}
    </span>
  );
}

export function MissingValue({ label }: { label: string }) {
  return (
    <span className="text-muted">
      <span aria-hidden="true">–</span>
      <span className="sr-only">{label}</span>
    </span>
  );
}

/** Selects the run, to compare or delete it. */
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
      title={isDisabled ? 'You cannot select more runs' : undefined}
    >
      <input
        type="checkbox"
        checked={isSelected}
        disabled={isDisabled}
        onChange={() => selection.toggle(run.id)}
        aria-label={`Select ${escapeHidden(run.name)} (${run.id})`}
        className="size-4 accent-accent disabled:opacity-40"
      />
    </label>
  );
}
