// The model traffic of a trial: what was replayed, what was sent, and where it diverged from the recording.
import { GitFork } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Traffic } from '../../../api/types';
import { TextBlock } from '../../../components/text';
import { formatCost, formatCount, formatDateTime, formatDuration } from '../../../lib/format';
import { Fact } from './fact';

export function TrialTraffic({ traffic }: { traffic: Traffic }) {
  const { replayed = 0, live = 0, replayedJudges = 0, replayedTools = 0 } = traffic;
  const { liveCost = 0, retried = 0, waitedMs = 0 } = traffic;
  const facts: [name: string, value: ReactNode][] = [
    ['Requests replayed', formatCount(replayed)],
    ['Requests live', `${formatCount(live)}${liveCost > 0 ? `, ${formatCost(liveCost)}` : ''}`],
  ];
  if (replayedTools > 0) facts.push(['Tool calls replayed', formatCount(replayedTools)]);
  if (replayedJudges > 0) facts.push(['Judge answers replayed', formatCount(replayedJudges)]);
  if (traffic.recordedAt != null)
    facts.push([
      'Recorded',
      <time key="recorded" dateTime={traffic.recordedAt}>
        {formatDateTime(traffic.recordedAt)}
      </time>,
    ]);
  if (retried > 0) facts.push(['Requests retried', formatCount(retried)]);
  if (waitedMs > 0) facts.push(['Waited (not part of the latency)', formatDuration(waitedMs)]);
  return (
    <div className="flex flex-col gap-3">
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        {facts.map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
      {traffic.diverged != null && (
        <div className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <GitFork className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
          <div className="min-w-0">
            <p className="font-medium">Diverged from the recording</p>
            <TextBlock isCode>{traffic.diverged}</TextBlock>
          </div>
        </div>
      )}
    </div>
  );
}
