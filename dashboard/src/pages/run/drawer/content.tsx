// The details of an item, from its input to the agent's metadata.
import type { Execution, ItemRow, Report, WholeItem } from '../../../api/types';
import { Conversation } from '../../../components/conversation';
import { CopyButton } from '../../../components/copy-button';
import { FieldList } from '../../../components/field-list';
import { ReplayMark } from '../../../components/replay-mark';
import { Text, TextBlock } from '../../../components/text';
import { formatCost, formatCount, formatDuration, formatWithUnit } from '../../../lib/format';
import { expectedField } from '../../../lib/item-input';
import { toText } from '../../../lib/texts';
import { itemMark } from '../../../lib/traffic';
import { Evaluations } from './evaluations';
import { Fact } from './fact';
import { attemptsOf, faultsOf, inputOf, metadataOf, omit, tokensOf, trialsOf } from './item';
import { Output } from './output';
import { TrialRetries } from './retries';
import { Section } from './section';
import { ToolCalls } from './tool-call-list';
import { toolCalls } from './tool-calls';
import { Trace, traceNote } from './trace';
import { TrialTraffic } from './traffic';
import { Trials } from './trials';
import { Workspace } from './workspace';

interface ContentProps {
  run: Report;
  whole: WholeItem;
  /** The index of the selected trial. */
  shown: number;
  onShow: (place: number) => void;
}

export function Content({ run, whole, shown, onShow }: ContentProps) {
  const { item, row } = whole;
  const executions = trialsOf(item);
  const place = shown < executions.length ? shown : 0;
  const execution = executions[place] ?? item;
  const attempts = attemptsOf(execution);
  const expected = expectedField(item.input);
  const metadata = metadataOf(execution);
  const tools = toolCalls(metadata);
  const { trace = [], droppedSpans = 0, metrics = {}, workspace } = execution;
  const rest = omit(metadata, [tools?.field, 'model', 'tokens']);
  return (
    <div className="divide-y divide-line">
      <Facts execution={execution} metadata={metadata} row={row} />
      <Section title="Input" actions={<CopyButton text={toText(item.input)} label="Copy the input" />}>
        <FieldList fields={inputOf(item)} />
      </Section>
      {executions.length > 1 && (
        <Section title={`${executions.length} trials`}>
          <Trials run={run} item={item} trials={executions} shown={place} onShow={onShow} />
        </Section>
      )}
      {execution.transcript != null && (
        <Section title={executions.length > 1 ? `Conversation (trial ${place + 1})` : 'Conversation'}>
          <Conversation key={`${item.key} ${place}`} transcript={execution.transcript} />
        </Section>
      )}
      <Section
        title={executions.length > 1 ? `Output (trial ${place + 1})` : 'Output'}
        actions={<CopyButton text={toText(execution.output.output)} label="Copy the output" />}
      >
        <Output execution={execution} expected={expected === undefined ? undefined : item.input[expected]} />
      </Section>
      {attempts > 1 && (
        <Section title={executions.length > 1 ? `Retried after (trial ${place + 1})` : 'Retried after'}>
          <TrialRetries execution={execution} />
        </Section>
      )}
      <Section title="Scores">
        <Evaluations run={run} evaluations={execution.evaluations} />
      </Section>
      {Object.keys(metrics).length > 0 && (
        <Section title={executions.length > 1 ? `Metrics (trial ${place + 1})` : 'Metrics'}>
          <dl className="flex flex-wrap gap-x-8 gap-y-2">
            {Object.entries(metrics).map(([name, { value, unit }]) => (
              <Fact key={name} name={<Text>{name}</Text>}>
                <Text>{formatWithUnit(value, unit)}</Text>
              </Fact>
            ))}
          </dl>
        </Section>
      )}
      {workspace != null && (
        <Section
          title={executions.length > 1 ? `Workspace (trial ${place + 1})` : 'Workspace'}
          actions={workspace.patch ? <CopyButton text={workspace.patch} label="Copy the patch" /> : undefined}
        >
          <Workspace key={place} changes={workspace} />
        </Section>
      )}
      {trace.length > 0 && (
        <Section
          title={executions.length > 1 ? `Trace (trial ${place + 1})` : 'Trace'}
          actions={<span className="text-muted text-xs">{traceNote(trace, droppedSpans)}</span>}
        >
          <Trace key={place} spans={trace} dropped={droppedSpans} />
        </Section>
      )}
      {execution.traffic != null && (
        <Section title={executions.length > 1 ? `Model traffic (trial ${place + 1})` : 'Model traffic'}>
          <TrialTraffic traffic={execution.traffic} />
        </Section>
      )}
      {tools !== undefined && (
        <Section title="Tool calls">
          <ToolCalls calls={tools.calls} />
        </Section>
      )}
      {Object.keys(rest).length > 0 && (
        <Section title="Metadata">
          <FieldList fields={rest} />
        </Section>
      )}
    </div>
  );
}

interface FactsProps {
  execution: Execution;
  metadata: Record<string, unknown>;
  /** Has the agent cost of all trials. */
  row: ItemRow;
}

/** Latency, attempts, faults, model, tokens and cost of a trial. */
function Facts({ execution, metadata, row: { cost, runs: trials, traffic } }: FactsProps) {
  const { input, output, total } = tokensOf(metadata);
  const attempts = attemptsOf(execution);
  const faults = faultsOf(execution);
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 px-5 py-3">
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
