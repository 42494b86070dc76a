// The header of a run: experiment, verdict, origin and links.
import { ChevronLeft, ChevronRight, Download, TrendingUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { buildUrl } from '../../api/client';
import type { ExportQuery, Overview } from '../../api/types';
import { Tag } from '../../components/badge';
import { buttonLook } from '../../components/button';
import { CopyButton } from '../../components/copy-button';
import { Menu, MenuLink } from '../../components/menu';
import { Text } from '../../components/text';
import { Time } from '../../components/time';
import { Verdict } from '../../components/verdict';
import { formatDuration, shortCommit } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';
import { CompareActions } from './compare/actions';
import { verdictOf } from './verdict';

export function RunHeader({ overview }: { overview: Overview }) {
  const { run } = overview;
  return (
    <header className="flex flex-col gap-3">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 font-semibold text-xl [overflow-wrap:anywhere]">
            <Text>{run.name}</Text>
          </h1>
          <Verdict verdict={verdictOf(overview)} />
          {run.tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </div>
        <Actions overview={overview} />
      </div>
      <Facts overview={overview} />
    </header>
  );
}

function Actions({ overview }: { overview: Overview }) {
  const { run, previous, next } = overview;
  return (
    <div className="flex flex-wrap items-center gap-2">
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
      <Link to={buildUrl('/trends', { experiment: run.name })} className={buttonLook()}>
        <TrendingUp aria-hidden="true" />
        Trends
      </Link>
      {overview.state === 'finished' && <Export id={run.id} />}
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
  const look = `flex size-9 items-center justify-center border border-line bg-surface [&_svg]:size-4 ${side}`;
  if (to === undefined) {
    return (
      <span className={`${look} text-muted opacity-50`} aria-hidden="true">
        {icon}
      </span>
    );
  }
  return (
    <Link to={`/runs/${to}`} aria-label={label} title={label} className={`${look} hover:bg-sunken`}>
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

/** The origin of the run in one row. */
function Facts({ overview: { run } }: { overview: Overview }) {
  return (
    <dl className="flex flex-wrap items-center gap-x-5 gap-y-1 text-muted [&_dd]:text-text">
      <Fact name="Started">
        <Time timestamp={run.timestamp} />
      </Fact>
      <Fact name="Duration">{formatDuration(run.summary.totalDurationMs)}</Fact>
      {run.git && (
        <Fact name="Commit">
          <code className="font-mono text-xs" title={run.git.commit}>
            {shortCommit(run.git.commit)}
          </code>
          {run.git.dirty && <span className="ml-1 text-warn">uncommitted changes</span>}
        </Fact>
      )}
      {run.dataset && (
        <Fact name="Dataset">
          <code
            className="max-w-56 truncate font-mono text-xs"
            title={`${escapeHidden(run.dataset.source)}, SHA-256 ${run.dataset.hash}`}
          >
            <Text>{run.dataset.source}</Text>
          </code>
          {run.dataset.fetched && (
            <span className="ml-1 text-muted">
              fetched <Time timestamp={run.dataset.fetched.at} />
            </span>
          )}
        </Fact>
      )}
      {run.config.runs > 1 && (
        <Fact name={<span className="sr-only">Trials</span>}>{run.config.runs} trials per item</Fact>
      )}
      {run.shard && (
        <Fact name="Shard">
          {run.shard.index} of {run.shard.of}
        </Fact>
      )}
      <Fact name="Run">
        <code className="font-mono text-xs">{run.id}</code>
        <CopyButton text={run.id} label="Copy run ID" />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: ReactNode; children: ReactNode }) {
  return (
    <div className="flex h-7 items-center gap-1.5">
      <dt>{name}</dt>
      <dd className="flex items-center">{children}</dd>
    </div>
  );
}
