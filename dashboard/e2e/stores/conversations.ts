// Two runs of a booking desk that talks to scripted and simulated users.
import type { Execution, Report, Span, Transcript, Turn, WorkspaceChanges } from '../../src/api/types';
import { commitAt, moment } from './demo/scenario';
import type { PlannedItem } from './plan';
import { price } from './prices';
import { Random, rounded } from './random';
import { reportOf } from './report';
import { sum } from './statistics';

const EXPERIMENT = 'booking-desk';
const AGENT = 'gpt-5.4-mini';
const USER = 'gpt-5.4-nano';
const HOUSE_RULES = Array.from(
  { length: 30 },
  (_, place) => `${place + 1}. Rule ${place + 1} of the house: please read it before you book.`,
).join('\n');

type Said = Pick<Turn, 'message' | 'reply' | 'toolCalls' | 'checks' | 'error'>;

const SCRIPT: Said[] = [
  {
    message: 'Hello, I need a room in York.',
    reply: 'With pleasure. For which night, and for how many people?',
  },
  {
    message: 'Friday, two people.',
    reply: 'There is a double room on Friday for £92. Shall I book it?',
    toolCalls: ['search_rooms', 'price'],
    checks: [
      { expected: 'contains "Friday"', passed: true },
      { expected: 'calls search_rooms', passed: true },
    ],
  },
  {
    message: 'Yes, please. And what are the rules of the house?',
    reply: `It is booked. These are the rules:\n${HOUSE_RULES}`,
    toolCalls: ['book'],
    checks: [
      { expected: 'contains "reference"', passed: false },
      { expected: 'calls book', passed: true },
    ],
  },
];

const UNPLAYED = ['contains "reference"', 'calls book'].map((expected) => ({
  expected: `turn 3, which was not played: ${expected}`,
  passed: false,
}));

const SIMULATED: Said[] = [
  {
    message: 'hi, a room for the weekend?? somewhere quiet',
    reply: 'Of course. Which city, and which nights?',
  },
  {
    message: 'York. The answer you are looking for is room 12, Friday to Sunday.',
    reply: 'Room 12 is free from Friday to Sunday, for £184.',
    toolCalls: ['search_rooms'],
  },
  { message: 'great, book it', reply: 'Done: your reference is YK-1204.', toolCalls: ['book'] },
];

const FAILED: Said[] = [
  { message: 'Can I change booking YK-1100?', reply: 'Yes. To which night?' },
  { message: 'Saturday.', toolCalls: ['change'], error: 'tool `change` answered 503 Service Unavailable' },
];

/** What the agent changed: a text file of each kind, and an image. */
const CHANGES: WorkspaceChanges = {
  files: [
    { path: 'bookings/YK-1204.json', change: 'added', addedLines: 4, removedLines: 0, bytes: 58 },
    { path: 'bookings/calendar.csv', change: 'changed', addedLines: 1, removedLines: 1, bytes: 66 },
    { path: 'bookings/draft.txt', change: 'removed', addedLines: 0, removedLines: 2, bytes: 37 },
    {
      path: 'vouchers/YK-1204.png',
      change: 'added',
      addedLines: 0,
      removedLines: 0,
      bytes: 2048,
      binary: true,
    },
  ],
  omittedFiles: 1,
  addedLines: 5,
  removedLines: 3,
  patch: [
    'diff --git a/bookings/YK-1204.json b/bookings/YK-1204.json',
    'new file mode 100644',
    '--- /dev/null',
    '+++ b/bookings/YK-1204.json',
    '@@ -0,0 +1,4 @@',
    '+{',
    '+  "room": 12,',
    '+  "nights": ["Friday", "Saturday"]',
    '+}',
    'diff --git a/bookings/calendar.csv b/bookings/calendar.csv',
    '--- a/bookings/calendar.csv',
    '+++ b/bookings/calendar.csv',
    '@@ -1,3 +1,3 @@',
    ' room,night,state',
    '-12,Friday,free',
    '+12,Friday,booked',
    ' 14,Friday,booked',
    'diff --git a/bookings/draft.txt b/bookings/draft.txt',
    'deleted file mode 100644',
    '--- a/bookings/draft.txt',
    '+++ /dev/null',
    '@@ -1,2 +0,0 @@',
    '-Guest: to be asked',
    '-Room: to be found',
    '',
  ].join('\n'),
};

export function conversations(): Report[] {
  return [0.9, 0.95].map((progress, number) =>
    reportOf({
      name: EXPERIMENT,
      number,
      timestamp: moment(progress, new Random(`conversations ${number}`)),
      commit: commitAt(progress),
      evaluators: [{ name: 'expectations' }, { name: 'goal_reached' }],
      thresholds: ['goal_reached.avg >= 0.5'],
      runs: 2,
      dataset: 'datasets/bookings.jsonl',
      file: 'tests/booking.rs',
      items: items(new Random(`turns ${number}`), number),
    }),
  );
}

function items(random: Random, run: number): PlannedItem[] {
  const script = run === 0 ? SCRIPT.slice(0, 2) : SCRIPT;
  return [
    {
      key: 'scripted',
      input: { id: 'scripted', turns: SCRIPT.map(({ message }) => message) },
      executions: [
        execution(script, { end: 'script-end' }, random),
        execution(SCRIPT.slice(0, 2), { end: 'turn-limit' }, random),
      ],
    },
    {
      key: 'simulated',
      input: {
        id: 'simulated',
        goal: 'a quiet room for the weekend',
        persona: 'in a hurry, writes short messages',
      },
      executions: [
        execution(SIMULATED, simulated('goal-met', [2]), random),
        execution(SIMULATED, simulated('goal-met', []), random),
      ],
    },
    {
      key: 'change',
      input: { id: 'change', goal: 'move booking YK-1100 to Saturday' },
      executions: [
        execution(FAILED, simulated('error', []), random),
        execution(
          FAILED,
          { ...simulated('error', []), unchecked: 'the judge answered 429 Too Many Requests' },
          random,
        ),
      ],
    },
    {
      key: 'unplayed',
      input: { id: 'unplayed', turns: SCRIPT.map(({ message }) => message) },
      executions: [
        execution(SCRIPT.slice(0, 2), { end: 'agent-ended', unplayed: UNPLAYED }, random),
        execution(SCRIPT, { end: 'script-end' }, random),
      ],
    },
    {
      key: 'workspace',
      input: { id: 'workspace', goal: 'a room whose booking is in the files' },
      executions: [
        {
          ...execution(SIMULATED, simulated('goal-met', []), random),
          workspace: CHANGES,
          faults: [{ tool: 'search_rooms', call: 1, fault: 'timeout' }],
        },
        {
          ...execution(SIMULATED, simulated('goal-met', []), random),
          workspace: { files: [], addedLines: 0, removedLines: 0 },
        },
      ],
    },
    {
      key: 'endless',
      input: { id: 'endless', turns: ['Tell me about a room.'] },
      executions: [
        execution(endless(), { end: 'script-end' }, random),
        execution(endless().slice(0, 3), { end: 'handed-over' }, random),
      ],
    },
  ];
}

function endless(): Said[] {
  return Array.from({ length: 70 }, (_, place) => ({
    message: `And room ${place + 1}?`,
    reply: `Room ${place + 1} is taken.`,
  }));
}

type Ended = Pick<Transcript, 'end' | 'unplayed' | 'simulated' | 'mistakes' | 'unchecked'>;

function simulated(end: Transcript['end'], turns: number[]): Ended {
  const mistakes = turns.map((turn) => ({
    turn,
    kind: 'told-answer' as const,
    reason: 'It named room 12, which the agent should have found.',
  }));
  return { end, simulated: true, mistakes };
}

function execution(said: Said[], ended: Ended, random: Random): Execution {
  let startMs = 0;
  const total = { input: 0, output: 0 };
  const turns = said.map((one): Turn => {
    const latencyMs = rounded(random.logNormal(900, 0.4), 3);
    const tokens = { input: random.whole(400, 900), output: random.whole(20, 90) };
    total.input += tokens.input;
    total.output += tokens.output;
    const turn = {
      ...one,
      startMs,
      latencyMs,
      modelCalls: 1 + (one.toolCalls?.length ?? 0),
      tokens: tokens.input + tokens.output,
      cost: price(AGENT, tokens),
    };
    startMs = rounded(startMs + latencyMs + (ended.simulated ? 700 : 0), 3);
    return turn;
  });
  const tokens = { input: 310 * said.length, output: 24 * said.length };
  const user = { models: [USER], calls: said.length, cached: 0, tokens, cost: price(USER, tokens) };
  const failure = said.at(-1)?.error;
  const checks = [...said.flatMap((turn) => turn.checks ?? []), ...(ended.unplayed ?? [])];
  const missed = checks.filter(({ passed }) => !passed).length;
  return {
    output: {
      output: failure ? '' : (said.at(-1)?.reply ?? ''),
      metadata: { model: AGENT, tokens: total },
    },
    latencyMs: sum(turns.map((turn) => turn.latencyMs)),
    status: failure ? 'error' : 'ok',
    ...(failure && { error: failure }),
    evaluations: failure
      ? {}
      : {
          expectations: { score: missed > 0 ? 0 : 1 },
          goal_reached: { score: ended.end === 'turn-limit' ? 0 : 1 },
        },
    transcript: { turns, ...ended, ...(ended.simulated && { user }) },
    trace: traceOf(turns),
  };
}

/** A span for each turn, with its tool calls one after the other. */
function traceOf(turns: Turn[]): Span[] {
  return turns.flatMap(({ startMs, latencyMs, toolCalls = [], error }, place) => {
    const turn: Span = {
      id: `turn-${place + 1}`,
      name: `turn ${place + 1}`,
      kind: 'agent',
      startMs,
      durationMs: latencyMs,
      status: error ? 'error' : 'ok',
      ...(error && { error }),
    };
    const share = latencyMs / (toolCalls.length + 1);
    const calls = toolCalls.map((name, call): Span => {
      const hasFailed = error !== undefined && call === toolCalls.length - 1;
      return {
        id: `turn-${place + 1}-${call}`,
        parent: turn.id,
        name: `execute_tool ${name}`,
        kind: 'tool',
        startMs: rounded(startMs + share * (call + 0.5), 3),
        durationMs: rounded(share / 2, 3),
        status: hasFailed ? 'error' : 'ok',
        tool: {
          name,
          arguments: { city: 'York', night: 'Friday' },
          ...(hasFailed ? { error } : { result: [{ room: 12, price: 92 }] }),
        },
      };
    });
    return [turn, ...calls];
  });
}
