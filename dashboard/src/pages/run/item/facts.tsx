// Latency, attempts, faults, model, tokens and agent cost of a trial.
import type { Execution, ItemRow } from '../../../api/types';
import { ReplayMark } from '../../../components/replay-mark';
import { Text, TextBlock } from '../../../components/text';
import { formatCost, formatCount, formatDuration } from '../../../lib/format';
import { itemMark } from '../../../lib/traffic';
import { Fact } from './fact';
import { attemptsOf, faultsOf, metadataOf, tokensOf } from './item';

interface FactsProps {
  execution: Execution;
  /** Has the agent cost of all trials. */
  row: ItemRow;
}

export function Facts({ execution, row: { cost, runs: trials, traffic } }: FactsProps) {
  const metadata = metadataOf(execution);
  const { input, output, total } = tokensOf(metadata);
  const attempts = attemptsOf(execution);
  const faults = faultsOf(execution);
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 px-4 py-3">
      <Fact name="Latency">
        {formatDuration(execution.latencyMs)} <ReplayMark {...itemMark(execution.traffic)} />
      </Fact>
      {attempts > 1 && <Fact name="Attempts">{formatCount(attempts)}</Fact>}
      {faults !== '' && (
        <Fact name="Faults">
          <TextBlock>{faults}</TextBlock>
        </Fact>
      )}
      {typeof metadata.model === 'string' && (
        <Fact name="Model">
          <Text>{metadata.model}</Text>
        </Fact>
      )}
      {total !== undefined && <Fact name="Tokens">{formatCount(total)}</Fact>}
      {input !== undefined && <Fact name="Input tokens">{formatCount(input)}</Fact>}
      {output !== undefined && <Fact name="Output tokens">{formatCount(output)}</Fact>}
      {cost != null && (
        <Fact name={trials > 1 ? `Agent cost (${trials} trials)` : 'Agent cost'}>
          {formatCost(cost)} <ReplayMark {...itemMark(traffic)} />
        </Fact>
      )}
    </dl>
  );
}
