// A turn of a conversation: the messages, the tool calls, what the script expects, and what it took.
import clsx from 'clsx';
import { Check, CircleAlert, UserRoundX, Wrench, X } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import type { Span, Turn, UserMistake } from '../../api/types';
import { MISTAKES, turnUsage } from '../../lib/conversation';
import { Badge } from '../badge';
import { RenderedValue } from '../rich/value';
import { Text, TextBlock } from '../text';
import { ToolCall } from './tool-call';

interface ConversationTurnProps {
  /** From 1. */
  number: number;
  turn: Turn;
  /** The tool calls in the trace; without them, their names are shown. */
  calls: Span[];
  /** Whether to show messages as they were sent, without rendering Markdown. */
  isRaw: boolean;
  /** The simulated user's mistakes in this turn. */
  mistakes: UserMistake[];
}

export function ConversationTurn({ number, turn, calls, isRaw, mistakes }: ConversationTurnProps) {
  const id = useId();
  const { toolCalls = [], checks = [] } = turn;
  return (
    <li aria-labelledby={id} className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-baseline gap-x-2 border-line border-b pb-1 text-xs">
        <span id={id} className="font-semibold">
          Turn {number}
        </span>
        <span className="text-muted tabular-nums">{turnUsage(turn)}</span>
      </p>
      <Message speaker="User" isUser note={<MistakeBadges mistakes={mistakes} />}>
        <Said isRaw={isRaw}>{turn.message}</Said>
      </Message>
      {calls.length > 0 ? (
        <ul aria-label="Tool calls" className="flex flex-col gap-1">
          {calls.map((span, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: calls are identified by their index
            <ToolCall key={place} span={span} />
          ))}
        </ul>
      ) : (
        toolCalls.length > 0 && <ToolNames names={toolCalls} />
      )}
      {turn.reply != null && (
        <Message speaker="Agent">
          <Said isRaw={isRaw}>{turn.reply}</Said>
        </Message>
      )}
      {turn.error != null && (
        <div className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
          <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
          <div className="min-w-0">
            <p className="font-medium">The agent failed in this turn</p>
            <TextBlock isCode>{turn.error}</TextBlock>
          </div>
        </div>
      )}
      {checks.length > 0 && <Checks label="Expectations" checks={checks} />}
    </li>
  );
}

function Said({ isRaw, children }: { isRaw: boolean; children: string }) {
  return isRaw ? <TextBlock>{children}</TextBlock> : <RenderedValue value={children} />;
}

interface MessageProps {
  speaker: string;
  isUser?: boolean;
  note?: ReactNode;
  children: ReactNode;
}

function Message({ speaker, isUser = false, note, children }: MessageProps) {
  return (
    <div className={clsx('flex max-w-full flex-col @md:max-w-[85%]', isUser && 'items-end self-end')}>
      <p className="mb-0.5 flex flex-wrap items-center gap-x-2 px-1 text-muted text-xs">
        {speaker}
        {note}
      </p>
      <div
        className={clsx(
          'min-w-0 max-w-full rounded-lg border border-line px-3 py-2',
          isUser ? 'rounded-tr-none bg-accent-soft' : 'self-start rounded-tl-none bg-sunken/60',
        )}
      >
        {children}
      </div>
    </div>
  );
}

function MistakeBadges({ mistakes }: { mistakes: UserMistake[] }) {
  return mistakes.map(({ kind }, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: mistakes are identified by their index
    <Badge key={place} tone="warn" icon={<UserRoundX aria-hidden="true" />}>
      User’s mistake: {MISTAKES[kind]}
    </Badge>
  ));
}

function ToolNames({ names }: { names: string[] }) {
  return (
    <ul aria-label="Tool calls" className="flex flex-wrap gap-1.5">
      {names.map((name, place) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: calls are identified by their index
          key={place}
          className="inline-flex min-w-0 items-center gap-1.5 rounded border border-line px-1.5 py-0.5 text-xs"
        >
          <Wrench className="size-3.5 shrink-0 text-muted" aria-hidden="true" />
          <span className="min-w-0 font-mono [overflow-wrap:anywhere]">
            <Text>{name}</Text>
          </span>
        </li>
      ))}
    </ul>
  );
}

interface ChecksProps {
  label: string;
  checks: NonNullable<Turn['checks']>;
}

/** Expectations of a script, each met or missed. */
export function Checks({ label, checks }: ChecksProps) {
  return (
    <ul aria-label={label} className="flex flex-col gap-1">
      {checks.map(({ expected, passed }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: expectations are identified by their index
        <li key={place} className="flex items-start gap-2">
          <Badge
            tone={passed ? 'good' : 'bad'}
            icon={passed ? <Check aria-hidden="true" /> : <X aria-hidden="true" />}
          >
            {passed ? 'Met' : 'Missed'}
          </Badge>
          <TextBlock className="min-w-0">{expected}</TextBlock>
        </li>
      ))}
    </ul>
  );
}
