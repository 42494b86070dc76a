// The head of the matrix: each run with its mean score, rank and agent cost. A click sorts the items by the run's score.
import clsx from 'clsx';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { RankedRun, Ranking } from '../../api/types';
import { CutText } from '../../components/cut-text';
import { formatCost, formatScore } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { formatRank } from './format';
import type { MatrixSort } from './sort';

interface MatrixHeadProps {
  ranking: Ranking;
  /** Empty for the mean over all evaluators. */
  evaluator: string;
  sort: MatrixSort;
  onSort: (key: string) => void;
}

export function MatrixHead({ ranking: { runs }, evaluator, sort, onSort }: MatrixHeadProps) {
  return (
    <thead className="sticky top-0 z-10 text-xs max-lg:sr-only">
      <tr aria-rowindex={1}>
        <Head name="Item" sortKey="key" sort={sort} onSort={onSort} className="w-60">
          <span className="font-medium">Item</span>
        </Head>
        {runs.map((run) => (
          <Head
            key={run.run.id}
            name={`score of ${escapeHidden(run.label)}`}
            sortKey={run.run.id}
            sort={sort}
            onSort={onSort}
          >
            <span className="flex min-w-0 flex-col">
              <CutText className="font-medium text-sm text-text">{run.label}</CutText>
              <span className="text-muted tabular-nums">{facts(run, evaluator)}</span>
            </span>
          </Head>
        ))}
      </tr>
    </thead>
  );
}

/** `0.900 · rank 1–2 · $1.20 per 1,000 items` */
function facts(run: RankedRun, evaluator: string): string {
  // With one evaluator, its mean is the mean over the evaluators.
  const score =
    evaluator === '' && run.scores.length === 1
      ? run.scores[0]
      : run.scores.find((one) => one.evaluator === evaluator);
  const mean = score?.mean ?? (evaluator === '' ? run.meanScore : undefined);
  const parts = [
    mean == null ? 'no score' : formatScore(mean),
    ...(score === undefined ? [] : [`rank ${formatRank(score.rank)}`]),
    ...(run.costPer1000 == null ? [] : [`${formatCost(run.costPer1000)} per 1,000 items`]),
  ];
  return parts.join(' · ');
}

interface HeadProps {
  /** The accessible name of what a click sorts by. */
  name: string;
  sortKey: string;
  sort: MatrixSort;
  onSort: (key: string) => void;
  className?: string;
  children: React.ReactNode;
}

function Head({ name, sortKey, sort, onSort, className, children }: HeadProps) {
  const isSorted = sort.key === sortKey;
  const Arrow = sort.order === 'asc' ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      aria-sort={isSorted ? (sort.order === 'asc' ? 'ascending' : 'descending') : undefined}
      className={clsx('border-line border-b bg-sunken p-0 align-bottom font-normal', className)}
    >
      <button
        type="button"
        title={`Sort by ${name}`}
        onClick={() => onSort(sortKey)}
        className="flex w-full min-w-0 items-end gap-1 px-3 py-1.5 text-left hover:text-accent"
      >
        {children}
        {isSorted && <Arrow className="mb-0.5 size-3.5 shrink-0 text-accent" aria-hidden="true" />}
      </button>
    </th>
  );
}
