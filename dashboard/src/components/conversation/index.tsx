// A conversation as chat: how it ended, the mistakes of a simulated user, its turns, and the expectations of turns that were not played.

import { UserRoundX } from 'lucide-react';
import { useState } from 'react';
import type { Span, Transcript } from '../../api/types';
import { ENDS, formatUserCost, MISTAKES, toolSpansOf, userCalls, userMark } from '../../lib/conversation';
import { pluralize } from '../../lib/format';
import { REPLAYED_USERS } from '../../lib/traffic';
import { Badge } from '../badge';
import { ReplayMark } from '../replay-mark';
import { formOf } from '../rich/value';
import { SegmentedControl } from '../segmented-control';
import { ShowAll } from '../show-all';
import { Text, TextBlock } from '../text';
import { Checks, ConversationTurn } from './turn';

/** More turns are shown on demand. */
const SHOWN = 50;

interface ConversationProps {
  transcript: Transcript;
  /** The trace of the same execution; it has the arguments, results and times of the tool calls. */
  spans?: Span[];
}

export function Conversation({ transcript, spans = [] }: ConversationProps) {
  const { turns, mistakes = [], unplayed = [] } = transcript;
  const [isWhole, setWhole] = useState(false);
  const [isRaw, setRaw] = useState(false);
  const hasForms = turns.some(({ message, reply }) =>
    [message, reply].some((text) => formOf(text) !== 'text'),
  );
  const shown = isWhole ? turns : turns.slice(0, SHOWN);
  return (
    <div className="@container flex flex-col gap-3">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <Summary transcript={transcript} />
        {hasForms && (
          <SegmentedControl
            label="Format of the messages"
            value={isRaw ? 'raw' : 'rendered'}
            options={[
              { value: 'rendered', name: 'Rendered' },
              { value: 'raw', name: 'Raw' },
            ]}
            onChange={(form) => setRaw(form === 'raw')}
          />
        )}
      </div>
      {mistakes.length > 0 && <Mistakes transcript={transcript} />}
      {transcript.unchecked != null && (
        <div className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          <p className="font-medium">The simulated user was not checked for mistakes by a model</p>
          <TextBlock>{transcript.unchecked}</TextBlock>
        </div>
      )}
      <ol aria-label="Turns" className="flex flex-col gap-4">
        {shown.map((turn, place) => (
          <ConversationTurn
            // biome-ignore lint/suspicious/noArrayIndexKey: turns are identified by their number
            key={place}
            number={place + 1}
            turn={turn}
            isRaw={isRaw}
            calls={toolSpansOf(turn, spans)}
            mistakes={mistakes.filter((mistake) => mistake.turn === place + 1)}
          />
        ))}
      </ol>
      {shown.length < turns.length && (
        <ShowAll count={turns.length} noun="turns" onClick={() => setWhole(true)} />
      )}
      {unplayed.length > 0 && (
        <div className="flex flex-col gap-1.5">
          <p className="border-line border-b pb-1 font-semibold text-xs">Turns that were not played</p>
          <Checks label="Expectations of turns that were not played" checks={unplayed} />
        </div>
      )}
    </div>
  );
}

/** How it ended, who the user was, and what the user cost. */
function Summary({ transcript: { turns, end, simulated = false, user } }: { transcript: Transcript }) {
  const { label, tone } = ENDS[end];
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Badge tone={tone}>
        <span className="sr-only">Ended: </span>
        {label}
      </Badge>
      <span className="tabular-nums">{pluralize(turns.length, 'turn')}</span>
      <span className="text-muted">{simulated ? 'Simulated user' : 'Scripted user'}</span>
      {user != null && (
        <span className="text-muted text-xs tabular-nums [overflow-wrap:anywhere]">
          User cost <span className="text-text">{formatUserCost(user)}</span>{' '}
          <ReplayMark mark={userMark(user)} explanation={REPLAYED_USERS} /> (<Text>{userCalls(user)}</Text>)
        </span>
      )}
    </div>
  );
}

function Mistakes({ transcript: { mistakes = [] } }: { transcript: Transcript }) {
  return (
    <section
      aria-label="Mistakes of the simulated user"
      className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn"
    >
      <UserRoundX className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      <div className="min-w-0">
        <p className="font-medium">
          {pluralize(mistakes.length, 'mistake')} of the simulated user, not of the agent
        </p>
        <ul>
          {mistakes.map(({ turn, kind, reason }, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: mistakes are identified by their index
            <li key={place} className="mt-1">
              Turn {turn}, {MISTAKES[kind]}:<TextBlock>{reason}</TextBlock>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
