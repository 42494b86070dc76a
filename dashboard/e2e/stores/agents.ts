// Two runs of a research agent whose traces, answers in Markdown, images and sources are shown in detail.
import type { Execution, Report, Span } from '../../src/api/types';
import { commitAt, moment } from './demo/scenario';
import type { PlannedItem } from './plan';
import { price } from './prices';
import { Random, rounded } from './random';
import { reportOf } from './report';
import { sum } from './statistics';

const EXPERIMENT = 'research-agent';
const MODEL = 'gpt-5.4-mini';

/** A red dot. */
export const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAIAAADYYG7QAAAAi0lEQVR42u3Yuw2AMBCDYY9CnfXZC1EwAD2PcIoSx4cs3QBfef6x7YfUwSCD5oDWpUSOAQpSmlkYSmlggaOJm8ChxFkgaz5N4GvqpjygoZqKCbM0b6YMIJrm0SQPImvuJoMMMsgggwz6G8jvR/EL2wUktzo8FJNue8X6odiHRAuaYmMUrbAO5wZd7gSxlHoQ/wYqZgAAAABJRU5ErkJggg==';
/** A file of the project; see `files`. */
export const CHART = 'charts/rainfall.png';
export const GONE = 'charts/gone.png';

const MARKDOWN = `## Rainfall in York

It rains on **142 days** a year, most of them in *autumn*:

| month | days |
|---|---|
| October | 16 |
| November | 15 |

\`\`\`python
days = [16, 15]
print(sum(days))
\`\`\`

See [the Met Office](https://www.metoffice.gov.uk/york) and ![the map](https://maps.example/york.png).`;

const QUESTIONS = [
  [
    'rainfall-york',
    'How many days a year does it rain in York, and when?',
    MARKDOWN,
    'It rains on 142 days a year, most of them in October and November.',
  ],
  [
    'river-ouse',
    'How long is the River Ouse?',
    'The River Ouse is 84 km long.',
    'The River Ouse is 84 miles long.',
  ],
  [
    'city-walls',
    'Which city in England has the longest medieval walls?',
    { city: 'York', km: 3.4, sources: ['walls.md'] },
    { city: 'York', km: 3.4 },
  ],
  ['minster-height-of-the-central-tower-in-metres', 'How high is the central tower?', '71 m', '72 m'],
] as const;

export function agents(): Report[] {
  return [0.9, 0.95].map((progress, number) =>
    reportOf({
      name: EXPERIMENT,
      number,
      timestamp: moment(progress, new Random(`agents ${number}`)),
      commit: commitAt(progress),
      evaluators: [{ name: 'correctness' }, { name: 'citations', passMark: 0.7 }],
      thresholds: ['correctness.avg >= 0.8', 'citations.avg >= 0.7'],
      dataset: 'datasets/york.jsonl',
      file: 'tests/research.rs',
      items: items(number, new Random(`research ${number}`)),
    }),
  );
}

function items(number: number, random: Random): PlannedItem[] {
  const answered = QUESTIONS.map(([id, question, answer, expected], place): PlannedItem => {
    const input = { id, question, source: `datasets/york.jsonl:${place + 1}`, expectedOutput: expected };
    const spans = trace(3 + place, place === 1, random);
    // The later run is wrong where the earlier one was right.
    const isRight = id === 'river-ouse' ? number === 0 : random.chance(0.5);
    return { key: id, input, executions: [execution(answer, spans, random, isRight)] };
  });
  const media = execution('The chart shows rain on 16 days in October.', trace(1, false, random), random);
  media.output.metadata = { ...media.output.metadata, legend: DOT };
  return [
    ...answered,
    {
      key: 'chart',
      input: {
        id: 'chart',
        question: 'What does the chart show?',
        chart: CHART,
        older: GONE,
        expectedOutput: 'Rain on 16 days in October.',
      },
      executions: [media],
    },
    {
      key: 'thorough',
      input: { id: 'thorough', question: 'Read everything about York.', expectedOutput: 'Done.' },
      executions: [execution('Done.', trace(400, true, random), random)],
    },
  ];
}

function execution(output: unknown, spans: Span[], random: Random, correct = random.chance(0.5)): Execution {
  const models = spans.flatMap(({ model }) => model?.tokens ?? []);
  const tokens = {
    input: sum(models.map(({ input }) => input)),
    output: sum(models.map(({ output }) => output)),
  };
  return {
    output: { output, metadata: { model: MODEL, tokens } },
    latencyMs: spans[0]?.durationMs ?? 0,
    status: 'ok',
    trace: spans,
    evaluations: {
      correctness: {
        score: correct ? 1 : 0.3,
        reason: correct
          ? 'The answer agrees with the expected one.'
          : 'The answer names the right river, but its length is given in kilometres although the number is that of the miles; a reader who takes it at its word is off by a third. It also does not say where the length was measured, which the question does not ask for but the guide of the judge does.',
        chainOfThought:
          'The expected answer is in **miles**.\n\n1. Compare the numbers.\n2. Compare the units.',
        judge: {
          models: ['gpt-5.4'],
          calls: 1,
          cached: 0,
          tokens: { input: 820, output: 64 },
          cost: price('gpt-5.4', { input: 820, output: 64 }),
        },
      },
      citations: {
        score: 0.6,
        reason: 'One of two statements has a source.',
        metadata: { cited: 1, statements: 2 },
      },
    },
  };
}

/** An agent that calls a model and then tools, in rounds; the last tool fails on demand. */
function trace(rounds: number, fails: boolean, random: Random): Span[] {
  const spans: Span[] = [];
  let now = 0;
  const add = (span: Omit<Span, 'id' | 'startMs' | 'status'> & Partial<Span>): Span => {
    const whole: Span = { id: `s${spans.length}`, startMs: rounded(now, 3), status: 'ok', ...span };
    spans.push(whole);
    return whole;
  };
  const agent = add({ name: 'research', kind: 'agent', durationMs: 0, attributes: { rounds } });
  for (let round = 1; round <= rounds; round += 1) {
    const step = add({ parent: agent.id, name: `round ${round}`, kind: 'other', durationMs: 0 });
    const tokens = { input: random.whole(600, 1400), output: random.whole(30, 120) };
    const thinking = rounded(random.logNormal(700, 0.4), 3);
    add({
      parent: step.id,
      name: `chat ${MODEL}`,
      kind: 'model',
      durationMs: thinking,
      model: {
        vendor: 'openai',
        asked: MODEL,
        answered: MODEL,
        tokens,
        cost: price(MODEL, tokens),
        timeToFirstTokenMs: rounded(thinking / 3, 3),
        finishReason: 'tool_calls',
        input: `Round ${round}: what do you need?`,
        output: 'I will **search** the handbook.',
      },
    });
    now += thinking;
    const isFailure = fails && round === rounds;
    const searching = rounded(random.logNormal(180, 0.5), 3);
    add({
      parent: step.id,
      name: 'execute_tool search',
      kind: 'tool',
      durationMs: searching,
      tool: {
        name: 'search',
        arguments: { query: 'York', page: round },
        ...(isFailure ? { error: '503 Service Unavailable' } : { result: { hits: 3, first: 'walls.md' } }),
      },
      ...(isFailure && { status: 'error' as const }),
    });
    now += searching;
    step.durationMs = rounded(now - step.startMs, 3);
  }
  agent.durationMs = rounded(now, 3);
  return spans;
}
