// What the table and the cards show of a run, figure by figure.
import { GitCommitHorizontal } from 'lucide-react';
import { Link } from 'react-router';
import type { RunRow } from '../../api/types';
import { Tag } from '../../components/badge';
import { Text } from '../../components/text';
import { Verdict } from '../../components/verdict';
import { formatCost, formatCount, pluralize, shortCommit } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';

/** A link to the run by its experiment's name. Keys move from one of these links to the next. */
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

/** How many tags have a place in a row. */
const MAX_TAGS = 3;

export function Tags({ tags: of }: { tags: string[] }) {
  if (of.length === 0) return null;
  const rest = of.slice(MAX_TAGS);
  return (
    <span className="flex min-w-0 items-center gap-1 overflow-hidden">
      {of.slice(0, MAX_TAGS).map((tag) => (
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

/** The verdict; of a partial run, what became of the items that were run, too. */
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
    run.evalErrors > 0 && `${pluralize(run.evalErrors, 'evaluation')} without a score`,
  ];
  return (
    <span className="font-medium text-bad" title={parts.filter(Boolean).join(', ')}>
      {formatCount(errors)}
    </span>
  );
}

/** What the agent and the judges cost together; what each did, in the title. */
export function Cost({ run }: { run: RunRow }) {
  const { cost: agent, judgeCost: judges } = run;
  if (typeof agent !== 'number' && typeof judges !== 'number') return <MissingValue label="not known" />;
  const part = (name: string, usd: number | null | undefined) =>
    `${name} ${typeof usd === 'number' ? formatCost(usd) : 'not known'}`;
  return (
    <span title={`${part('Agent', agent)}, ${part('judges', judges)}`}>
      {formatCost((agent ?? 0) + (judges ?? 0))}
    </span>
  );
}

/** The commit, with a mark where the sources differed from it. */
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
        <span className="font-semibold text-warn" title="There were changes that were not committed">
          <span aria-hidden="true">*</span>
          <span className="sr-only">with changes that were not committed</span>
        </span>
      )}
    </span>
  );
}

function MissingValue({ label: said }: { label: string }) {
  return (
    <span className="text-muted">
      <span aria-hidden="true">–</span>
      <span className="sr-only">{said}</span>
    </span>
  );
}

/** Picks the run to be compared. */
export function SelectCheckbox({
  run,
  picks,
}: {
  run: RunRow;
  picks: { ids: string[]; isFull: boolean; toggle: (id: string) => void };
}) {
  const isPicked = picks.ids.includes(run.id);
  const isRefused = picks.isFull && !isPicked;
  return (
    <label
      className="-m-2 flex cursor-pointer p-2"
      title={isRefused ? 'Three runs at most can be compared' : undefined}
    >
      <input
        type="checkbox"
        checked={isPicked}
        disabled={isRefused}
        onChange={() => picks.toggle(run.id)}
        aria-label={`Pick ${escapeHidden(run.name)}, ${run.id}, to compare`}
        className="size-4 accent-accent disabled:opacity-40"
      />
    </label>
  );
}
