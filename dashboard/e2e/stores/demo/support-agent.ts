// The demo's support agent, which answers customers of a shop with tools.
import type { Execution } from '../../../src/api/types';
import type { Random } from '../random';
import { CUSTOMERS, TOPICS, type Topic } from './customers';
import {
  type Attempt,
  answered,
  failed,
  judgeResult,
  type Scenario,
  type Subject,
  traceId,
  withRegression,
} from './scenario';

const OPENINGS = [
  'Thanks for your message, NAME.',
  'Hello NAME!',
  'Good to hear from you, NAME.',
  'Hi NAME, happy to help.',
] as const;
const CLOSINGS = [
  'Is there anything else I can do?',
  'Have a good day outside!',
  'Just reply if anything is unclear.',
  '',
] as const;
const REGRESSION = { after: 0.52, until: 0.68, by: 0.24 };

const byKey = new Map<string, { topic: Topic; name: string }>();
const subjects: Subject[] = TOPICS.flatMap((topic) =>
  topic.questions.flatMap((question, place) =>
    CUSTOMERS.map((customer) => {
      const key = `${topic.id}-${place + 1}-${customer.country.toLowerCase()}`;
      byKey.set(key, { topic, name: customer.name.split(' ')[0] ?? '' });
      const context = {
        channel: place === 0 ? 'e-mail' : 'chat',
        orders: customer.orders,
        openTickets: place,
      };
      const expectedOutput = topic.facts.join(' ');
      return {
        key,
        input: {
          id: key,
          question,
          customer,
          locale: customer.locale,
          topic: topic.id,
          context,
          expectedOutput,
        },
      };
    }),
  ),
);

function execute({ subject, grade, progress, random }: Attempt): Execution {
  const known = byKey.get(subject.key);
  if (!known) throw new Error(`no such item: ${subject.key}`);
  const { topic, name } = known;
  const isDown = progress > REGRESSION.after && progress < REGRESSION.until;
  if (random.chance(0.0012)) return failed('timeout', 'timed out after 20s', 20_000 + random.next() * 9);
  if (random.chance(0.0015)) {
    return failed(
      'error',
      `tool \`${topic.tool.name}\` answered 503 Service Unavailable after 3 attempts`,
      8200,
    );
  }
  const said =
    grade > 0.78
      ? topic.facts
      : grade > 0.55
        ? topic.facts.slice(0, 2)
        : grade > 0.4
          ? topic.facts.slice(1, 2)
          : [topic.wrong];
  const text = [random.pick(OPENINGS).replace('NAME', name), ...said, isDown ? '' : random.pick(CLOSINGS)]
    .filter(Boolean)
    .join(' ');
  const tokens = { input: random.whole(900, 1600), output: 30 + said.length * 24 + random.whole(0, 30) };
  const run = answered(text, random.logNormal(isDown ? 2300 : 1450, 0.42), {
    model: 'gpt-5.4-mini',
    tokens,
    traceId: traceId(random),
    toolCalls:
      grade > 0.4
        ? [topic.tool, { name: 'read_article', arguments: { id: topic.id }, result: topic.facts[0] }]
        : [],
  });
  run.evaluations = evaluate(topic, said.length, grade, isDown, random);
  return run;
}

function evaluate(
  topic: Topic,
  said: number,
  grade: number,
  isDown: boolean,
  random: Random,
): Execution['evaluations'] {
  const correct = grade > 0.78 ? 1 : grade > 0.55 ? 0.7 : grade > 0.4 ? 0.4 : 0;
  const missing = topic.facts[said] ?? topic.facts[2];
  const reason =
    correct === 1
      ? 'The answer has all three expected facts, and nothing contradicts them.'
      : correct === 0
        ? `The answer contradicts the expected one: “${topic.wrong}”`
        : `The answer is correct but incomplete; it leaves out: “${missing}”`;
  const tone = isDown ? 0.62 : 0.91;
  return {
    correctness: judgeResult(correct, reason, random),
    tone: random.chance(0.0008)
      ? { error: 'the judge answered twice without a `score`: expected {"score": number, "reason": string}' }
      : judgeResult(
          random.normal(tone, 0.06),
          isDown ? 'Correct in substance, but curt; no closing.' : 'Friendly, clear and to the point.',
          random,
        ),
    used_tool: {
      score: grade > 0.4 ? 1 : 0,
      reason: grade > 0.4 ? `called ${topic.tool.name}` : `${topic.tool.name} was not called`,
    },
  };
}

export const supportAgent: Scenario = {
  name: 'support-agent',
  nights: 36,
  subjects,
  evaluators: [{ name: 'correctness' }, { name: 'tone', passMark: 0.6 }, { name: 'used_tool' }],
  thresholds: [
    'correctness.avg >= 0.8',
    'tone.avg >= 0.8',
    'used_tool.pass_rate >= 0.95',
    'latency.p95 <= 4s',
    'cost.total <= 0.25',
    'vs_baseline.correctness.drop <= 0.02',
  ],
  timeoutMs: 20_000,
  dataset: 'datasets/customers.jsonl',
  file: 'tests/support.rs',
  quality: withRegression(0.86, 0.95, REGRESSION),
  execute,
};
