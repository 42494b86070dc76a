// The demo's agent that answers questions from a handbook, scored by judges with reasons.
import type { Execution } from '../../../src/api/types';
import type { Random } from '../random';
import { PASSAGES, type Passage, type Question } from './handbook';
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

const LEADS = ['', 'According to the handbook: ', 'In short: ', 'The handbook says so: '] as const;
const MISSES = ['I could not find this in the handbook.', 'The passages that I have do not say.'] as const;

const byKey = new Map<string, { passage: Passage; asked: Question }>();
const subjects: Subject[] = PASSAGES.flatMap((passage, place) =>
  passage.questions.map((asked, number) => {
    const key = `${passage.id}-${number + 1}`;
    byKey.set(key, { passage, asked });
    const other = PASSAGES[(place + number + 1) % PASSAGES.length] ?? passage;
    const context = [passage, other].map(({ id, title, text }) => ({ id, title, text }));
    const input = {
      id: key,
      question: asked.question,
      context,
      locale: 'en',
      product: 'Halden energy meter',
      expectedOutput: asked.answer,
    };
    return { key, input };
  }),
);

function execute({ subject, grade, random }: Attempt): Execution {
  const known = byKey.get(subject.key);
  if (!known) throw new Error(`no such item: ${subject.key}`);
  const { passage, asked } = known;
  if (random.chance(0.004)) return failed('timeout', 'timed out after 15s', 15_000 + random.next() * 5);
  const kind = grade > 0.6 ? 'right' : grade > 0.42 ? 'unfound' : 'invented';
  const said = { right: asked.answer, unfound: random.pick(MISSES), invented: asked.invented }[kind];
  const run = answered(random.pick(LEADS) + said, random.logNormal(980, 0.5), {
    model: 'gpt-5.6-luna',
    tokens: { input: random.whole(1400, 2600), output: random.whole(20, 90) },
    retrieved: [
      { id: passage.id, score: 0.5 + grade / 2.2 },
      { id: 'glossary', score: 0.31 },
    ],
    traceId: traceId(random),
  });
  run.evaluations = evaluate(passage, asked, kind, said, random);
  return run;
}

function evaluate(
  passage: Passage,
  asked: Question,
  kind: 'right' | 'unfound' | 'invented',
  said: string,
  random: Random,
) {
  const thought = [
    `The question is “${asked.question}”`,
    `The passage \`${passage.id}\` says: “${passage.text.split('. ')[0]}.”`,
    `The answer claims: “${said}”`,
    kind === 'invented'
      ? 'I find no sentence in the passages that supports this claim.'
      : 'Every claim can be found in the passages, or none is made.',
  ].join('\n');
  const faithful = { right: 0.97, unfound: 0.95, invented: 0.12 }[kind];
  const correct = { right: 1, unfound: 0.25, invented: 0 }[kind];
  const reasons = {
    right: 'The answer says the same as the expected one in other words.',
    unfound: 'The passage holds the answer, but it was not given.',
    invented: `The answer says “${asked.invented}”, where “${asked.answer}” was expected.`,
  };
  const support =
    kind === 'invented'
      ? 'None of the passages supports the claim.'
      : 'All claims are supported by the passages.';
  return {
    faithfulness: judgeResult(random.normal(faithful, 0.03), support, random, thought),
    correctness: judgeResult(correct, reasons[kind], random, thought),
    relevance: judgeResult(
      random.normal(kind === 'unfound' ? 0.45 : 0.9, 0.05),
      'Scored by the question alone.',
      random,
    ),
  };
}

export const questions: Scenario = {
  name: 'handbook-questions',
  nights: 28,
  subjects,
  evaluators: [{ name: 'faithfulness', passMark: 0.7 }, { name: 'correctness' }, { name: 'relevance' }],
  thresholds: [
    'faithfulness.avg >= 0.9',
    'correctness.avg >= 0.75',
    'latency.p95 <= 3s',
    'vs_baseline.faithfulness.drop <= 0.06',
  ],
  timeoutMs: 15_000,
  dataset: 'datasets/handbook.jsonl',
  file: 'tests/questions.rs',
  quality: withRegression(0.8, 0.88, { after: 0.74, until: 0.86, by: 0.22 }),
  execute,
};
