// The details of a run, folded away until they are needed.
import { Collapsible } from '@base-ui/react/collapsible';
import type { Overview } from '../../api/types';
import { Panel } from '../../components/panel';
import { BaselineChange } from './baseline';
import { CustomMetrics } from './custom-metrics';
import { Facts } from './facts';
import { Groups } from './groups';
import type { ItemState, ScoreRange } from './items/filter';
import { RunRedacted } from './redacted';
import { RunRescored } from './rescored';
import { RunRetries } from './retries';
import { Scores } from './scores';
import { Thresholds } from './thresholds';
import { RunTraffic } from './traffic';
import { Usage } from './usage';
import { RunVariant } from './variant';

interface DetailsProps {
  overview: Overview;
  onState: (state: ItemState) => void;
  onRange: (evaluator: string, range: ScoreRange) => void;
  /** Whether only the items of a bin are shown. */
  isShown: (evaluator: string, range: ScoreRange) => boolean;
}

/** To be used within a `Collapsible`. */
export function Details({ overview, onState, onRange, isShown }: DetailsProps) {
  const { run } = overview;
  return (
    <Collapsible.Panel
      aria-label="Details"
      role="region"
      className="relative min-h-0 shrink overflow-y-auto border-line border-b bg-ground"
    >
      <div className="flex flex-col gap-4 p-4">
        <RunVariant overview={overview} />
        <RunRedacted run={run} />
        <RunRescored run={run} />
        <RunRetries run={run} onRetried={() => onState('retried')} />
        <RunTraffic run={run} onDiverged={() => onState('diverged')} />
        <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(22rem,26rem)]">
          <Scores overview={overview} onRange={onRange} isShown={isShown} />
          <Thresholds run={run} />
        </div>
        <div className="grid gap-4 md:grid-cols-2 lg:auto-cols-fr lg:grid-flow-col lg:grid-cols-none">
          <Usage overview={overview} />
          {run.baseline && <BaselineChange comparison={run.baseline} />}
          <Panel title="Settings">
            <Facts run={run} />
          </Panel>
        </div>
        <Groups run={run} />
        <CustomMetrics run={run} />
      </div>
    </Collapsible.Panel>
  );
}
