// The compared runs, each with a menu.
import { ChevronDown, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { ComparedRun } from '../../../api/types';
import { Button, buttonLook, IconButton } from '../../../components/button';
import { CutText } from '../../../components/cut-text';
import { Menu, MenuAction, MenuLink } from '../../../components/menu';
import { ReplayMark } from '../../../components/replay-mark';
import { Verdict } from '../../../components/verdict';
import { MAX_COMPARED, rankingUrl, runUrl } from '../../../lib/addresses';
import { formatCount, formatDateTime } from '../../../lib/format';
import { outcomeOf } from '../../../lib/report';
import { summaryMark } from '../../../lib/traffic';
import type { SuggestedRun } from './reference';
import { type ReferenceName, RunLetter, runInSentence, runLabel } from './run-letter';
import { RunPicker } from './run-picker';

interface RunChipsProps {
  /** The reference first, then the run of the page. */
  runs: ComparedRun[];
  reference: ReferenceName;
  suggested: SuggestedRun[];
  onChoose: (ids: string[]) => void;
}

export function RunChips({ runs, reference, suggested, onChoose }: RunChipsProps) {
  /** The place whose run is being selected. */
  const [place, setPlace] = useState<number>();
  const ids = runs.map((run) => run.id);
  const without = (place: number) => ids.filter((_, other) => other !== place);
  const select = (id: string) => {
    const next = [...ids];
    next[place ?? ids.length] = id;
    setPlace(undefined);
    onChoose(next);
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <ul aria-label="Compared runs" className="contents">
        {runs.map((run, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a run may be compared with itself
          <li key={`${run.id} ${place}`} className="min-w-0 max-w-full">
            <RunChip run={run} place={place} reference={reference} isNamed={run.name !== runs[1]?.name}>
              <MenuLink to={runUrl(run.id)}>Open the run</MenuLink>
              {place !== 1 && <MenuAction onClick={() => setPlace(place)}>Select another run…</MenuAction>}
              {place > 0 && (
                <MenuAction onClick={() => onChoose([run.id, ...without(place)])}>
                  Use as the reference
                </MenuAction>
              )}
              {runs.length > 2 && (
                <MenuAction onClick={() => onChoose(without(place))}>Remove from the comparison</MenuAction>
              )}
            </RunChip>
          </li>
        ))}
      </ul>
      {runs.length < MAX_COMPARED && (
        <Button
          look="bare"
          aria-label="Add a run"
          className="max-sm:px-2"
          onClick={() => setPlace(runs.length)}
        >
          <Plus aria-hidden="true" />
          <span className="max-sm:hidden">Add a run</span>
        </Button>
      )}
      <span className="ml-auto flex items-center gap-1">
        <Link to={rankingUrl(ids)} className={`${buttonLook('bare')} max-sm:hidden`}>
          Rank these runs
        </Link>
        <IconButton label="End the comparison" onClick={() => onChoose([])}>
          <X />
        </IconButton>
      </span>
      {place !== undefined && (
        <RunPicker
          title={place === 0 ? `Select the ${reference}` : `Select ${runInSentence(place, reference)}`}
          experiment={runs[1]?.name}
          suggested={suggested}
          selected={ids}
          onSelect={select}
          onClose={() => setPlace(undefined)}
        />
      )}
    </div>
  );
}

const verdictOf = (run: ComparedRun) => (run.partial ? 'partial' : outcomeOf(run));

interface RunChipProps {
  run: ComparedRun;
  place: number;
  reference: ReferenceName;
  /** Whether the experiment is named: it is another one. */
  isNamed: boolean;
  /** The entries of the menu. */
  children: React.ReactNode;
}

function RunChip({ run, place, reference, isNamed, children }: RunChipProps) {
  const { summary } = run;
  const name = runLabel(place, reference);
  const chip = (
    <button
      type="button"
      aria-label={`${name}: ${run.id}, ${formatDateTime(run.timestamp)}`}
      className="flex h-9 max-w-full items-center gap-2 rounded-md border border-line bg-surface pr-2 pl-2 text-xs hover:bg-sunken"
    />
  );
  return (
    <Menu
      trigger={chip}
      name={
        <>
          <RunLetter place={place} />
          <span className="font-medium whitespace-nowrap">{name}</span>
          {isNamed && <CutText className="max-w-40">{run.name}</CutText>}
          <span className="text-muted whitespace-nowrap tabular-nums max-sm:hidden">
            {formatDateTime(run.timestamp)}
          </span>
          <span className="max-sm:hidden">
            <Verdict verdict={verdictOf(run)} />
          </span>
          <span className="text-muted whitespace-nowrap tabular-nums max-[88rem]:hidden">
            {formatCount(summary.passedItems)} of {formatCount(summary.totalItems)} at pass marks
          </span>
          <span className="whitespace-nowrap max-lg:hidden">
            <ReplayMark mark={summaryMark(summary)} />
          </span>
          <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden="true" />
        </>
      }
    >
      {children}
    </Menu>
  );
}
