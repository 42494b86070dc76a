// An item of the matrix: its status, scores and output in each run, and when open the outputs in full.
import clsx from 'clsx';
import { ChevronRight } from 'lucide-react';
import type { Ref } from 'react';
import type { Matrix, MatrixCell, MatrixItem } from '../../api/types';
import { Badge } from '../../components/badge';
import { CutText } from '../../components/cut-text';
import { Text } from '../../components/text';
import { ItemVerdict } from '../../components/verdict';
import { formatScore } from '../../lib/format';
import { getOwn } from '../../lib/get-own';
import { Outputs } from './outputs';

interface MatrixRowsProps {
  ref: Ref<HTMLTableSectionElement>;
  index: number;
  item: MatrixItem;
  runs: Matrix['runs'];
  labels: string[];
  isOpen: boolean;
  onToggle: () => void;
}

export function MatrixRows({ ref, index, item, runs, labels, isOpen, onToggle }: MatrixRowsProps) {
  return (
    <tbody ref={ref} data-index={index} className={clsx('group max-lg:block', isOpen && 'bg-sunken/40')}>
      <tr
        aria-rowindex={index + 2}
        className="align-top hover:bg-sunken/60 max-lg:flex max-lg:flex-col max-lg:gap-2 max-lg:border-line max-lg:border-b max-lg:px-3 max-lg:py-2.5 lg:[&>*]:border-line lg:[&>*]:border-b"
      >
        <th scope="row" className="px-3 py-2.5 font-normal max-lg:p-0">
          <button
            type="button"
            aria-expanded={isOpen}
            data-item
            onClick={onToggle}
            className="flex w-full min-w-0 items-start gap-1.5 rounded text-left"
          >
            <ChevronRight
              aria-hidden="true"
              className={clsx(
                'mt-0.5 size-4 shrink-0 text-muted transition-transform',
                isOpen && 'rotate-90',
              )}
            />
            <span className="min-w-0 grow">
              <span className="block font-medium font-mono text-xs/5">
                {item.key.trim() === '' ? <em>empty key</em> : <CutText>{item.key}</CutText>}
              </span>
              <span className="line-clamp-3 text-muted text-xs/5 [overflow-wrap:anywhere]">
                <Text>{item.input}</Text>
              </span>
              {item.contentChanged && <Badge tone="warn">Input changed</Badge>}
            </span>
          </button>
        </th>
        {runs.map(({ id, evaluators }, place) => (
          <td key={id} className="px-3 py-2.5 max-lg:p-0 max-lg:pl-5.5">
            <span className="mb-0.5 block font-medium text-xs [overflow-wrap:anywhere] lg:hidden">
              <Text>{labels[place] ?? id}</Text>
            </span>
            <Cell cell={item.cells[place]} evaluators={evaluators} />
          </td>
        ))}
      </tr>
      {isOpen && (
        <tr className="max-lg:block">
          <td colSpan={runs.length + 1} className="px-3 py-3 max-lg:block">
            <Outputs item={item} runs={runs} labels={labels} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

interface CellProps {
  cell: MatrixCell | null | undefined;
  evaluators: string[];
}

function Cell({ cell, evaluators }: CellProps) {
  if (cell == null) return <span className="text-muted text-xs">Not in this run</span>;
  const scored = evaluators.filter(
    (name) => getOwn(cell.scores, name) !== undefined || cell.notApplicable?.includes(name),
  );
  return (
    <span className="block min-w-0 text-xs/5">
      <ItemVerdict
        row={{ status: cell.status, passed: cell.passed, evalErrors: missing(cell, evaluators) }}
      />
      {scored.length > 0 && (
        <span className="mt-1 flex flex-wrap gap-x-2 tabular-nums">
          {scored.map((name) => (
            <ScoreText key={name} cell={cell} name={name} />
          ))}
        </span>
      )}
      {cell.output != null ? (
        <span className="mt-0.5 line-clamp-3 text-muted [overflow-wrap:anywhere]">
          <Text>{cell.output}</Text>
        </span>
      ) : (
        cell.error != null && (
          <span className="mt-0.5 line-clamp-3 text-bad [overflow-wrap:anywhere]">
            <Text>{cell.error}</Text>
          </span>
        )
      )}
    </span>
  );
}

/** The evaluators without a score that apply to the item. */
const missing = (cell: MatrixCell, evaluators: string[]) =>
  cell.status !== 'ok' || cell.error == null
    ? []
    : evaluators.filter(
        (name) => getOwn(cell.scores, name) === undefined && !cell.notApplicable?.includes(name),
      );

function ScoreText({ cell, name }: { cell: MatrixCell; name: string }) {
  const score = getOwn(cell.scores, name);
  const isLow = cell.low?.includes(name) === true;
  return (
    <span className="whitespace-nowrap">
      <span className="text-muted">
        <Text>{name}</Text>
      </span>{' '}
      {score === undefined ? (
        <abbr title="Not applicable" className="no-underline">
          n/a
        </abbr>
      ) : (
        <span className={clsx(isLow && 'font-medium text-warn')}>
          {formatScore(score)}
          {isLow && <span className="sr-only">, below pass mark</span>}
        </span>
      )}
    </span>
  );
}
