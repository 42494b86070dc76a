// The tab with the input, and the expected output beside the output; or the agent's error.
import { CircleCheck } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import type { Execution, WholeItem } from '../../../api/types';
import { CopyButton } from '../../../components/copy-button';
import { InlineDifference } from '../../../components/diff';
import { FieldList } from '../../../components/field-list';
import { RichValue } from '../../../components/rich/value';
import { SegmentedControl } from '../../../components/segmented-control';
import { TextBlock } from '../../../components/text';
import { expectedField, promptField } from '../../../lib/item-input';
import { areClose, diffTexts } from '../../../lib/text-diff';
import { toText } from '../../../lib/texts';
import { AgentFailure } from './agent-failure';
import { Facts } from './facts';
import { Heading } from './heading';
import { metadataOf, omit } from './item';
import { MediaList } from './media-list';
import { Section } from './section';
import { toolCalls } from './tool-calls';
import { hasToolCalls, ToolTimes } from './tool-times';

interface ResultProps {
  runId: string;
  whole: WholeItem;
  execution: Execution;
}

export function Result({ runId, whole, execution }: ResultProps) {
  const { item, row } = whole;
  const { input } = item;
  const prompt = promptField(input);
  const expected = expectedField(input);
  const others = omit(input, [prompt, expected]);
  const metadata = metadataOf(execution);
  const rest = omit(metadata, [toolCalls(metadata)?.field, 'model', 'tokens']);
  return (
    <div className="@container divide-y divide-line">
      <Facts execution={execution} row={row} />
      {hasToolCalls(execution.trace ?? []) && (
        <Section title="Tool calls">
          <ToolTimes spans={execution.trace ?? []} />
        </Section>
      )}
      <Section title="Input" actions={<CopyButton text={toText(input)} label="Copy the input" />}>
        <div className="flex flex-col gap-2">
          {prompt !== undefined && <Box value={input[prompt]} name="input" />}
          {Object.keys(others).length > 0 && <FieldList fields={others} />}
        </div>
      </Section>
      <Outputs execution={execution} expected={expected === undefined ? undefined : input[expected]} />
      <MediaList runId={runId} item={item} execution={execution} />
      {Object.keys(rest).length > 0 && (
        <Section title="Metadata">
          <FieldList fields={rest} />
        </Section>
      )}
    </div>
  );
}

interface OutputsProps {
  execution: Execution;
  /** Undefined if the dataset has no expected output. */
  expected: unknown;
}

/** The output, and the expected one. If their texts are close, their difference at first. */
function Outputs({ execution, expected }: OutputsProps) {
  const { output } = execution.output;
  const hasFailed = execution.error != null;
  const diff = useMemo(
    () => (expected === undefined || hasFailed ? undefined : diffTexts(expected, output)),
    [expected, output, hasFailed],
  );
  const isClose = diff !== undefined && !diff.isEqual && areClose(diff);
  const [view, setView] = useState<'difference' | 'sides'>('difference');
  const title = expected === undefined || hasFailed ? 'Output' : 'Expected and output';
  return (
    <Section
      title={title}
      actions={
        <span className="flex items-center gap-1">
          {isClose && (
            <SegmentedControl
              label="Show as"
              value={view}
              options={[
                { value: 'difference', name: 'Difference' },
                { value: 'sides', name: 'Side by side' },
              ]}
              onChange={setView}
            />
          )}
          <CopyButton text={toText(output)} label="Copy the output" />
        </span>
      }
    >
      {diff?.isEqual === true ? (
        <>
          <p className="mb-2 flex items-center gap-1.5 text-good text-xs">
            <CircleCheck className="size-3.5" aria-hidden="true" />
            The output equals what is expected
          </p>
          <Box value={output} name="output" />
        </>
      ) : isClose && view === 'difference' ? (
        <InlineDifference diff={diff} names={['Expected', 'Output']} />
      ) : (
        <Sides
          expected={expected}
          output={hasFailed ? <Failure execution={execution} /> : <Box value={output} name="output" />}
        />
      )}
    </Section>
  );
}

function Sides({ expected, output }: { expected: unknown; output: ReactNode }) {
  if (expected === undefined) return output;
  return (
    <div className="grid gap-3 @2xl:grid-cols-2">
      <div className="min-w-0">
        <Heading depth={2} className="mb-1 font-medium text-muted text-xs">
          Expected
        </Heading>
        <Box value={expected} name="expected output" />
      </div>
      <div className="min-w-0">
        <Heading depth={2} className="mb-1 font-medium text-muted text-xs">
          Output
        </Heading>
        {output}
      </div>
    </div>
  );
}

function Box({ value, name }: { value: unknown; name: string }) {
  return (
    <div className="rounded-md border border-line bg-sunken/50 px-3 py-2">
      <RichValue value={value} label={`Format of the ${name}`} />
    </div>
  );
}

function Failure({ execution }: { execution: Execution }) {
  return (
    <div className="min-w-0 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <AgentFailure status={execution.status} />
      <TextBlock isCode>{execution.error ?? ''}</TextBlock>
    </div>
  );
}
