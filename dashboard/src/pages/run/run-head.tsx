// The head of a run's page: the experiment, the verdict in one sentence, what was missed, and links.

import { useQueryClient } from '@tanstack/react-query';
import clsx from 'clsx';
import { ChevronLeft, ChevronRight, Download, Layers } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useNavigate } from 'react-router';
import { overviewRun } from '../../actions/action-run';
import { RunActions } from '../../actions/run-actions';
import { buildUrl } from '../../api/client';
import { overviewQuery } from '../../api/queries';
import type { ExportQuery, Overview, Report } from '../../api/types';
import { Tag, type Tone } from '../../components/badge';
import { buttonLook } from '../../components/button';
import { Menu, MenuLink } from '../../components/menu';
import { Text } from '../../components/text';
import { RUN_VERDICTS } from '../../components/verdict';
import { groupUrl, runUrl } from '../../lib/addresses';
import { verdictOf } from '../../lib/report';
import { escapeHidden } from '../../lib/texts';
import { CompareActions } from './compare/actions';
import { missedThresholds, runSentence } from './sentence';
import { ThresholdName } from './threshold-name';

export function RunHead({ overview }: { overview: Overview }) {
  const { run } = overview;
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-1.5 px-4 pt-2 pb-2">
      <div className="min-w-0 flex-1 basis-80">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 font-semibold text-lg/7 [overflow-wrap:anywhere]">
            <Text>{run.name}</Text>
          </h1>
          {run.runName != null && (
            <span className="min-w-0 text-muted [overflow-wrap:anywhere]">
              <Text>{run.runName}</Text>
            </span>
          )}
          {overview.isBaseline === true && <Tag>baseline</Tag>}
          {run.rescored != null && <Tag>Re-scored</Tag>}
          {run.tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </div>
        <Sentence overview={overview} />
        <Missed run={run} />
        {run.note != null && (
          <p
            title={escapeHidden(run.note)}
            className="mt-0.5 line-clamp-2 max-w-prose text-muted text-xs [overflow-wrap:anywhere]"
          >
            <Text>{run.note}</Text>
          </p>
        )}
      </div>
      <Links overview={overview} />
    </header>
  );
}

const COLOURS: Record<Tone, string> = {
  good: 'text-good',
  bad: 'text-bad',
  warn: 'text-warn',
  accent: 'text-accent',
  plain: 'text-muted',
};

function Sentence({ overview }: { overview: Overview }) {
  const { verdict, reasons } = runSentence(overview);
  const { tone, icon } = RUN_VERDICTS[verdictOf(overview)];
  return (
    <p className="[overflow-wrap:anywhere]">
      <span
        className={clsx(
          'font-semibold [&_svg]:-mt-0.5 [&_svg]:mr-1.5 [&_svg]:inline [&_svg]:size-4',
          COLOURS[tone],
        )}
      >
        {icon}
        {verdict}
        {reasons === '' ? '' : ':'}
      </span>{' '}
      {reasons}
    </p>
  );
}

/** Further ones are only in the list of thresholds. */
const MAX_MISSED = 6;

/** Names the thresholds that failed the run, with the actual values. */
function Missed({ run }: { run: Report }) {
  const missed = missedThresholds(run);
  if (missed.length === 0) return null;
  return (
    <ul aria-label="Missed thresholds" className="mt-1 flex flex-wrap gap-x-1.5 gap-y-1">
      {missed.slice(0, MAX_MISSED).map(({ name, figure }) => (
        <li key={name} className="max-w-full rounded bg-bad-soft px-1.5">
          <ThresholdName name={name} />{' '}
          <span className="font-medium text-bad text-xs whitespace-nowrap tabular-nums">
            {figure == null ? 'nothing to measure' : `was ${figure}`}
          </span>
        </li>
      ))}
      {missed.length > MAX_MISSED && (
        <li className="text-muted text-xs/5">and {missed.length - MAX_MISSED} more</li>
      )}
    </ul>
  );
}

function Links({ overview }: { overview: Overview }) {
  const { run, previous, next } = overview;
  const navigate = useNavigate();
  return (
    <div className="relative flex max-w-full items-center gap-2 overflow-x-auto p-0.5 [&>*]:shrink-0">
      <nav aria-label="Runs of the experiment" className="flex">
        <RunStepLink
          to={previous?.id}
          label="Previous run"
          icon={<ChevronLeft />}
          side="rounded-l-md border-r-0"
        />
        <RunStepLink to={next?.id} label="Next run" icon={<ChevronRight />} side="rounded-r-md" />
      </nav>
      <CompareActions overview={overview} />
      {run.variant != null && (
        <Link to={groupUrl(run.variant.group)} className={buttonLook()}>
          <Layers aria-hidden="true" />
          All variants
        </Link>
      )}
      {overview.state === 'finished' && <Export id={run.id} />}
      <RunActions run={overviewRun(overview)} onDeleted={() => void navigate('/')} />
    </div>
  );
}

interface RunStepLinkProps {
  to: string | undefined;
  label: string;
  icon: ReactNode;
  side: string;
}

/** A link to the previous or next run; an inactive icon if there is none. */
function RunStepLink({ to, label, icon, side }: RunStepLinkProps) {
  const client = useQueryClient();
  const look = `flex size-9 items-center justify-center border border-line bg-surface [&_svg]:size-4 ${side}`;
  if (to === undefined) {
    return (
      <span className={`${look} text-muted opacity-50`} aria-hidden="true">
        {icon}
      </span>
    );
  }
  return (
    <Link
      to={runUrl(to)}
      aria-label={label}
      title={label}
      className={`${look} hover:bg-sunken`}
      onPointerEnter={() => void client.prefetchQuery(overviewQuery(to))}
    >
      {icon}
    </Link>
  );
}

const FORMATS: { format: ExportQuery['format']; name: string; use: string }[] = [
  { format: 'csv', name: 'CSV', use: 'for a spreadsheet' },
  { format: 'html', name: 'HTML', use: 'a single page to share' },
  { format: 'json', name: 'JSON', use: 'the full report' },
  { format: 'junit', name: 'JUnit', use: 'for CI' },
  { format: 'markdown', name: 'Markdown', use: 'for a comment' },
];

function Export({ id }: { id: string }) {
  return (
    <Menu
      name={
        <>
          <Download aria-hidden="true" />
          Export
        </>
      }
    >
      {FORMATS.map(({ format, name, use }) => (
        <MenuLink key={format} to={buildUrl('/api/export', { run: id, format })} download>
          <span className="w-20 font-medium">{name}</span>
          <span className="text-muted">{use}</span>
        </MenuLink>
      ))}
    </Menu>
  );
}
