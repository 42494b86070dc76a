// The origin of a run: when, for how long, from which commit and data, with which settings.
import type { ReactNode } from 'react';
import type { Report } from '../../api/types';
import { CopyButton } from '../../components/copy-button';
import { Text } from '../../components/text';
import { DateTime } from '../../components/time';
import { formatCount, formatDateTime, formatDuration, pluralize, shortCommit } from '../../lib/format';
import { escapeHidden } from '../../lib/texts';

export function Facts({ run }: { run: Report }) {
  const { config, dataset, git, shard, summary } = run;
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-4 gap-y-1">
      <Fact name="Started">
        <DateTime timestamp={run.timestamp} />
      </Fact>
      <Fact name="Duration">{formatDuration(summary.totalDurationMs)}</Fact>
      {git && (
        <Fact name="Commit">
          <code className="font-mono text-xs" title={git.commit}>
            {shortCommit(git.commit)}
          </code>
          {git.branch != null && (
            <span className="ml-1.5 text-muted [overflow-wrap:anywhere]">
              on <Text>{git.branch}</Text>
            </span>
          )}
          {git.dirty && <span className="ml-1.5 text-warn">uncommitted changes</span>}
        </Fact>
      )}
      {dataset && (
        <Fact name="Dataset">
          <code
            className="font-mono text-xs [overflow-wrap:anywhere]"
            title={`${escapeHidden(dataset.source)}, SHA-256 ${dataset.hash}`}
          >
            <Text>{dataset.source}</Text>
          </code>
          {dataset.fetched && (
            <span className="ml-1.5 text-muted">fetched {formatDateTime(dataset.fetched.at)}</span>
          )}
        </Fact>
      )}
      <Fact name="Trials">{config.runs === 1 ? '1 per item' : `${config.runs} trials per item`}</Fact>
      <Fact name="In parallel">{pluralize(config.concurrency, 'item')}</Fact>
      <Fact name="Timeout">{formatDuration(config.timeout)}</Fact>
      {(config.retries ?? 0) > 0 && <Fact name="Retries">up to {formatCount(config.retries ?? 0)}</Fact>}
      <Fact name="Strict">
        {config.strict
          ? 'yes: every item must reach its pass marks'
          : 'no: only thresholds and errors fail it'}
      </Fact>
      {shard && (
        <Fact name="Shard">
          {shard.index} of {shard.of}
        </Fact>
      )}
      <Fact name="Run">
        <span className="inline-flex items-center">
          <code className="font-mono text-xs">{run.id}</code>
          <CopyButton text={run.id} label="Copy run ID" />
        </span>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
