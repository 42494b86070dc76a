// The runs as cards, for narrow windows.
import { Coins, ListChecks, Timer } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { useNavigate } from 'react-router';
import type { RunRow } from '../../api/types';
import { DateTime } from '../../components/time';
import { Verdict } from '../../components/verdict';
import { runUrl } from '../../lib/addresses';
import { formatDuration, pluralize } from '../../lib/format';
import { openRow } from '../../lib/open-row';
import { useRowKeys } from '../../lib/use-row-keys';
import { useVirtualRows } from '../../lib/use-virtual-rows';
import { Commit, Errors, Origin, Replayed, RunLink, SelectCheckbox, Tags, TotalCost } from './cells';
import type { ListProps } from './list';
import { EvaluatorScore } from './scores';

/** The height of a card in pixels, including its border. */
const CARD_HEIGHT = 141;

/** The height of the sticky page header in pixels. */
const HEADER_HEIGHT = 60;

/** The number of scores on a card. */
const MAX_SCORES = 3;

export function RunCards({ runs, selection, onEnd }: ListProps) {
  const navigate = useNavigate();
  const { list, items, before, after, scrollTo } = useVirtualRows<HTMLUListElement>({
    count: runs.length,
    height: CARD_HEIGHT,
    headerHeight: HEADER_HEIGHT,
    onEnd,
  });
  const rows = useMemo(() => runs.map((run) => run.id), [runs]);
  useRowKeys(rows, scrollTo, selection.toggle);
  return (
    <ul ref={list} aria-label="Runs">
      <li aria-hidden="true" style={{ height: before }} />
      {items.map(({ index }) => {
        const run = runs[index];
        return (
          run && (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the card contains a link for keyboard users
            <li
              key={run.id}
              aria-posinset={index + 1}
              onClick={(event) => openRow(event, runUrl(run.id), navigate)}
              className="h-[141px] cursor-pointer border-line border-t p-3 first-of-type:border-t-0"
            >
              <Card run={run} checkbox={<SelectCheckbox run={run} selection={selection} />} />
            </li>
          )
        );
      })}
      <li aria-hidden="true" style={{ height: after }} />
    </ul>
  );
}

function Card({ run, checkbox }: { run: RunRow; checkbox: ReactNode }) {
  const names = Object.keys(run.avgScores);
  return (
    <div className="flex flex-col gap-2 overflow-hidden">
      <div className="flex min-w-0 items-center gap-3">
        {checkbox}
        <RunLink run={run} />
        <span className="ml-auto">
          <Verdict verdict={run.verdict} />
        </span>
      </div>
      <div className="flex h-9 gap-3 overflow-hidden">
        {names.slice(0, MAX_SCORES).map((name) => (
          <EvaluatorScore key={name} name={name} run={run} />
        ))}
        {names.length === 0 && <span className="text-muted text-xs">No scores</span>}
      </div>
      <div className="flex items-center gap-x-4 overflow-hidden whitespace-nowrap text-muted text-xs [&_svg]:size-3.5">
        <Fact icon={<ListChecks />}>{pluralize(run.totalItems, 'item')}</Fact>
        {run.failedItems + run.evalErrors > 0 && (
          <span>
            Errors: <Errors run={run} />
          </span>
        )}
        <Fact icon={<Timer />}>{formatDuration(run.durationMs)}</Fact>
        <Fact icon={<Coins />}>
          total <TotalCost run={run} />
        </Fact>
      </div>
      <div className="flex h-5 min-w-0 items-center gap-3 text-muted text-xs">
        <DateTime timestamp={run.timestamp} />
        <Commit run={run} />
        <Origin run={run} />
        <Replayed run={run} />
        <Tags tags={run.tags} />
      </div>
    </div>
  );
}

function Fact({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <span className="flex items-center gap-1 tabular-nums">
      <span aria-hidden="true">{icon}</span>
      {children}
    </span>
  );
}
