// The tabs of an item; only those with content. The selected one is in the URL.
import type { ReactNode } from 'react';
import type { Execution, Report, WholeItem } from '../../../api/types';
import { Conversation } from '../../../components/conversation';
import { Tabs } from '../../../components/tabs';
import { formatCount } from '../../../lib/format';
import { ComparedOutputs } from '../compare/compared-outputs';
import { Files } from './files';
import { attemptsOf, metadataOf, trialsOf } from './item';
import { Raw } from './raw';
import { Result } from './result';
import { TrialRetries } from './retries';
import { Scores } from './scores';
import { Section } from './section';
import { ToolCalls } from './tool-call-list';
import { toolCalls } from './tool-calls';
import { Trace, traceNote } from './trace';
import { TrialTraffic } from './traffic';

const NAMES = {
  result: 'Result',
  conversation: 'Conversation',
  trace: 'Trace',
  scores: 'Scores',
  files: 'Files',
  raw: 'Raw',
} as const;

export type TabName = keyof typeof NAMES;

/** The tabs that an execution has content for. */
export function tabsOf(execution: Execution): TabName[] {
  const { transcript, trace = [], traffic, workspace } = execution;
  const hasSteps =
    trace.length > 0 ||
    traffic != null ||
    attemptsOf(execution) > 1 ||
    toolCalls(metadataOf(execution)) !== undefined;
  const has: Record<TabName, boolean> = {
    result: true,
    conversation: transcript != null,
    trace: hasSteps,
    scores: true,
    files: workspace != null,
    raw: true,
  };
  return (Object.keys(NAMES) as TabName[]).filter((name) => has[name]);
}

interface ContentProps {
  run: Report;
  whole: WholeItem;
  /** The index of the selected trial. */
  shown: number;
  tab: TabName;
  onTab: (tab: TabName) => void;
}

export function Content({ run, whole, shown, tab, onTab }: ContentProps) {
  const { item } = whole;
  const trials = trialsOf(item);
  const execution = trials[shown] ?? item;
  const id = `${item.key} ${shown}`;
  const panels: Record<TabName, ReactNode> = {
    result: (
      <>
        <ComparedOutputs run={run} itemKey={whole.item.key} />
        <Result key={id} runId={run.id} whole={whole} execution={execution} />
      </>
    ),
    conversation: execution.transcript != null && (
      <Section title="Conversation">
        <Conversation key={id} transcript={execution.transcript} spans={execution.trace} />
      </Section>
    ),
    trace: <Steps key={id} execution={execution} />,
    scores: <Scores key={id} run={run} item={item} execution={execution} trials={trials.length} />,
    files: execution.workspace != null && <Files key={id} changes={execution.workspace} />,
    raw: <Raw item={item} />,
  };
  const counts: Partial<Record<TabName, number>> = {
    conversation: execution.transcript?.turns.length,
    trace: execution.trace?.length || toolCalls(metadataOf(execution))?.calls.length,
    files: execution.workspace?.files.length,
  };
  return (
    <Tabs
      label="Item"
      value={tab}
      onChange={onTab}
      tabs={tabsOf(execution).map((value) => ({
        value,
        name: (
          <>
            {NAMES[value]}
            {counts[value] !== undefined && (
              <span className="text-muted text-xs tabular-nums @max-md:hidden">
                {formatCount(counts[value])}
              </span>
            )}
          </>
        ),
        panel: panels[value],
      }))}
      className="@container min-h-0 flex-1"
      panelClassName="relative min-h-0 flex-1 [container-type:size] overflow-y-auto overscroll-contain"
    />
  );
}

/** The steps of the agent: its trace or the tool calls that it reported, retries and model traffic. */
function Steps({ execution }: { execution: Execution }) {
  const { trace = [], droppedSpans = 0, traffic } = execution;
  const tools = toolCalls(metadataOf(execution));
  return (
    <div className="divide-y divide-line">
      {trace.length > 0 && (
        <Section
          title="Trace"
          actions={<span className="text-muted text-xs">{traceNote(trace, droppedSpans)}</span>}
        >
          <Trace spans={trace} dropped={droppedSpans} />
        </Section>
      )}
      {attemptsOf(execution) > 1 && (
        <Section title="Retried after">
          <TrialRetries execution={execution} />
        </Section>
      )}
      {tools !== undefined && (
        <Section title="Tool calls">
          <ToolCalls calls={tools.calls} />
        </Section>
      )}
      {traffic != null && (
        <Section title="Model traffic">
          <TrialTraffic traffic={traffic} />
        </Section>
      )}
    </div>
  );
}
