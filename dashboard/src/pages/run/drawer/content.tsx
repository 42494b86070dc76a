// All that is known of an item, from its input to the agent's metadata.
import type { ReactNode } from 'react';
import type { Execution, Report, WholeItem } from '../../../api/types';
import { Copy } from '../../../components/copy';
import { Fields } from '../../../components/fields';
import { Text } from '../../../components/text';
import { expectedField } from '../../../lib/asked';
import { cost, count, duration } from '../../../lib/format';
import { asText } from '../../../lib/texts';
import { Answer } from './answer';
import { Calls } from './calls';
import { Evaluations } from './evaluations';
import { executionsOf, inputOf, metadataOf, tokensOf, without } from './item';
import { Section } from './section';
import { Spread } from './spread';
import { toolCalls } from './tool-calls';

interface ContentProps {
  run: Report;
  whole: WholeItem;
  /** The place of the execution that is looked at. */
  shown: number;
  onShow: (place: number) => void;
}

export function Content({ run, whole, shown, onShow }: ContentProps) {
  const { item, row } = whole;
  const executions = executionsOf(item);
  const place = shown < executions.length ? shown : 0;
  const execution = executions[place] ?? item;
  const expected = expectedField(item.input);
  const metadata = metadataOf(execution);
  const tools = toolCalls(metadata);
  const rest = without(metadata, [tools?.field, 'model', 'tokens']);
  return (
    <div className="divide-y divide-line">
      <Facts execution={execution} metadata={metadata} spent={row.cost} runs={executions.length} />
      <Section title="Input" actions={<Copy text={asText(item.input)} label="Copy the input" />}>
        <Fields of={inputOf(item)} />
      </Section>
      {executions.length > 1 && (
        <Section title={`${executions.length} runs`}>
          <Spread run={run} item={item} executions={executions} shown={place} onShow={onShow} />
        </Section>
      )}
      <Section
        title={executions.length > 1 ? `Output of run ${place + 1}` : 'Output'}
        actions={<Copy text={asText(execution.output.output)} label="Copy the output" />}
      >
        <Answer execution={execution} expected={expected === undefined ? undefined : item.input[expected]} />
      </Section>
      <Section title="Scores">
        <Evaluations run={run} of={execution.evaluations} />
      </Section>
      {tools !== undefined && (
        <Section title="Tool calls">
          <Calls calls={tools.calls} />
        </Section>
      )}
      {Object.keys(rest).length > 0 && (
        <Section title="Metadata">
          <Fields of={rest} />
        </Section>
      )}
    </div>
  );
}

interface FactsProps {
  execution: Execution;
  metadata: Record<string, unknown>;
  /** On all runs. */
  spent: number | null | undefined;
  runs: number;
}

/** What an execution took. */
function Facts({ execution, metadata, spent, runs }: FactsProps) {
  const { input, output, total } = tokensOf(metadata);
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 px-5 py-3">
      <Fact name="Latency">{duration(execution.latencyMs)}</Fact>
      {typeof metadata.model === 'string' && (
        <Fact name="Model">
          <Text>{metadata.model}</Text>
        </Fact>
      )}
      {total !== undefined && <Fact name="Tokens">{count(total)}</Fact>}
      {input !== undefined && <Fact name="Tokens in">{count(input)}</Fact>}
      {output !== undefined && <Fact name="Tokens out">{count(output)}</Fact>}
      {spent != null && <Fact name={runs > 1 ? `Cost of ${runs} runs` : 'Cost'}>{cost(spent)}</Fact>}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="font-medium tabular-nums [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
