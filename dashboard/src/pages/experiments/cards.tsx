// The experiments as cards, for narrow windows.
import { useMemo } from 'react';
import { useNavigate } from 'react-router';
import type { ExperimentRow } from '../../api/types';
import { experimentUrl } from '../../lib/addresses';
import { formatDuration, pluralize } from '../../lib/format';
import { openRow } from '../../lib/open-row';
import { useRowKeys } from '../../lib/use-row-keys';
import { useVirtualRows } from '../../lib/use-virtual-rows';
import { ItemCounts } from '../runs/cells';
import {
  Changes,
  Costs,
  changeLines,
  ExperimentLink,
  LatestRun,
  RecentScores,
  RegressionsLink,
} from './cells';
import type { ListProps } from './table';

/** The height of a card in pixels, including its border, with one line of changes; and of further lines. */
const CARD_HEIGHT = 230;
const LINE_HEIGHT = 20;
/** A card without a run before has neither a line of scores nor a link to compare. */
const FIRST_RUN_HEIGHT = 190;

function heightOf(experiment: ExperimentRow | undefined): number {
  if (experiment === undefined) return CARD_HEIGHT;
  const { latest, recent } = experiment;
  const { totalItems, passedItems, lowItems } = latest;
  const hasThirdCount = lowItems > 0 && totalItems > passedItems + lowItems;
  const lines = changeLines(experiment) - 1 + (hasThirdCount ? 1 : 0);
  return (recent.length > 1 ? CARD_HEIGHT : FIRST_RUN_HEIGHT) + LINE_HEIGHT * lines;
}

/** The height of the sticky page header in pixels. */
const HEADER_HEIGHT = 60;

export function ExperimentCards({ experiments }: ListProps) {
  const navigate = useNavigate();
  const { list, items, before, after, scrollTo } = useVirtualRows<HTMLUListElement>({
    count: experiments.length,
    height: (index) => heightOf(experiments[index]),
    headerHeight: HEADER_HEIGHT,
  });
  const names = useMemo(() => experiments.map(({ name }) => name), [experiments]);
  useRowKeys(names, scrollTo);
  return (
    <ul ref={list} aria-label="Experiments" className="rounded-lg border border-line bg-surface">
      <li aria-hidden="true" style={{ height: before }} />
      {items.map(({ index }) => {
        const experiment = experiments[index];
        return (
          experiment && (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the card contains a link for keyboard users
            <li
              key={experiment.name}
              aria-posinset={index + 1}
              onClick={(event) => openRow(event, experimentUrl(experiment.name), navigate)}
              style={{ height: heightOf(experiment) }}
              className="cursor-pointer overflow-hidden border-line border-t p-3 first-of-type:border-t-0"
            >
              <Card experiment={experiment} />
            </li>
          )
        );
      })}
      <li aria-hidden="true" style={{ height: after }} />
    </ul>
  );
}

function Card({ experiment }: { experiment: ExperimentRow }) {
  const { latest } = experiment;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex min-w-0 items-baseline gap-3">
        <ExperimentLink experiment={experiment} />
        <span className="ml-auto shrink-0 text-muted text-xs">{pluralize(experiment.runs, 'run')}</span>
      </div>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <LatestRun experiment={experiment} />
        <RegressionsLink experiment={experiment} />
      </div>
      <RecentScores experiment={experiment} width={240} />
      <div className="flex justify-between gap-3">
        <Fact name="At pass marks">
          <ItemCounts run={latest} />
        </Fact>
        <Fact name="Costs">
          <Costs experiment={experiment} />
        </Fact>
        <Fact name="Mean latency">{formatDuration(latest.avgLatencyMs)}</Fact>
      </div>
      <div className="max-w-xl">
        <Changes experiment={experiment} />
      </div>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <div className="text-muted text-xs">{name}</div>
      {children}
    </div>
  );
}
