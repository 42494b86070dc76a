// The demo's agent that answers customers of a shop with the help of tools.
import type { Execution } from '../../../src/api/types';
import type { Random } from '../random';
import {
  type Attempt,
  answered,
  failed,
  judged,
  type Scenario,
  type Subject,
  traceId,
  withRegression,
} from './scenario';

interface Topic {
  id: string;
  questions: string[];
  /** What a good answer says, the most important first. */
  facts: [string, string, string];
  wrong: string;
  tool: { name: string; arguments: Record<string, unknown>; result: unknown };
}

const TOPICS: Topic[] = [
  {
    id: 'return-window',
    questions: [
      'I bought a tent five weeks ago and never opened it. Can I still send it back?',
      'How long do I have to return a jacket that does not fit?',
      'The boots are too small. What is the deadline for a return?',
    ],
    facts: [
      'You can return unused items within 60 days of delivery.',
      'The return label is free and waits for you under “My orders”.',
      'The refund reaches your account within five working days after the parcel arrives.',
    ],
    wrong: 'Returns are possible within 14 days, so I am afraid that it is too late.',
    tool: {
      name: 'lookup_order',
      arguments: { order: 'FW-48213' },
      result: { status: 'delivered', daysAgo: 35 },
    },
  },
  {
    id: 'late-parcel',
    questions: [
      'My parcel was due on Monday and there is still nothing here. Where is it?',
      'Tracking has not moved for four days. Is my order lost?',
      'When will order FW-50127 finally arrive?',
    ],
    facts: [
      'Your parcel is at the depot in Lyon and goes out for delivery tomorrow.',
      'Storms closed the depot for two days, which is why tracking stood still.',
      'If it is not with you by Friday, we send a replacement at no cost.',
    ],
    wrong: 'Your parcel was delivered this morning and signed for by you.',
    tool: {
      name: 'track_parcel',
      arguments: { order: 'FW-50127', carrier: 'chronopost' },
      result: { state: 'at depot', place: 'Lyon', delay: 'weather', expected: '2026-11-06' },
    },
  },
  {
    id: 'warranty',
    questions: [
      'The zip of my sleeping bag broke after a year. Is that covered?',
      'My stove does not light any more. Do I have a guarantee on it?',
      'How do I claim the warranty for trekking poles?',
    ],
    facts: [
      'Every product carries a three-year warranty on material and workmanship.',
      'Send two photos of the damage through the warranty form, and we answer within two working days.',
      'We repair first, and replace what cannot be repaired.',
    ],
    wrong: 'The warranty ends after twelve months, so a repair would be charged.',
    tool: {
      name: 'search_articles',
      arguments: { query: 'warranty zip' },
      result: ['warranty-terms', 'repairs'],
    },
  },
  {
    id: 'change-address',
    questions: [
      'I moved last week. Can you send my open order to the new address?',
      'I typed the wrong house number. How do I correct it?',
      'Please deliver to my office instead of my home.',
    ],
    facts: [
      'I have changed the delivery address of your open order.',
      'A confirmation with the new address is on its way to your inbox.',
      'Your saved address stays as it was; you can change it under “Profile”.',
    ],
    wrong: 'An address cannot be changed once an order is placed; please order again.',
    tool: {
      name: 'update_address',
      arguments: { order: 'FW-50644', street: 'Rue des Lilas 8', city: 'Nantes' },
      result: { ok: true, confirmation: 'sent' },
    },
  },
  {
    id: 'double-charge',
    questions: [
      'My card was charged twice for one order. Why?',
      'There are two payments of €129 on my statement. I ordered once!',
      'Please refund the second payment for FW-49980.',
    ],
    facts: [
      'The second amount is a reservation by your bank and was never booked by us.',
      'It disappears by itself within three to five working days.',
      'Should it be booked after all, reply here and we refund it on the same day.',
    ],
    wrong: 'I have refunded both payments, and your order is cancelled.',
    tool: {
      name: 'list_payments',
      arguments: { order: 'FW-49980' },
      result: [
        { amount: 129, state: 'captured' },
        { amount: 129, state: 'authorised' },
      ],
    },
  },
  {
    id: 'discount-code',
    questions: [
      'The code AUTUMN15 is refused at the checkout. What is wrong?',
      'Can I use two discount codes on one order?',
      'I forgot to enter my code. Can you take it off afterwards?',
    ],
    facts: [
      'One code can be used for each order, from a value of €60.',
      'Codes do not apply to items that are reduced already.',
      'Ordered within the last 24 hours? Then I can take the discount off afterwards.',
    ],
    wrong: 'The code has expired, and there is no other one at the moment.',
    tool: {
      name: 'check_code',
      arguments: { code: 'AUTUMN15' },
      result: { valid: true, minimum: 60, combinable: false },
    },
  },
  {
    id: 'cancel-membership',
    questions: [
      'I want to cancel my Trail Club membership today.',
      'How do I get out of the yearly plan?',
      'Do I get money back if I leave the club in the middle of the year?',
    ],
    facts: [
      'Your membership is cancelled as of the end of the paid period, 14 March 2027.',
      'You keep free delivery and member prices until then.',
      'Months that have begun are not refunded; unused whole years are.',
    ],
    wrong: 'To cancel, please call us between 9 and 11 on weekdays.',
    tool: { name: 'cancel_membership', arguments: { member: 'TC-20931' }, result: { endsOn: '2027-03-14' } },
  },
  {
    id: 'stock-alert',
    questions: [
      'When is the Alpine 45 backpack in green available again?',
      'Can you tell me when size 42 is back in stock?',
      'Is the family tent still in any of your shops?',
    ],
    facts: [
      'The next delivery is expected in the week of 23 November.',
      'I have set an alert; you get one e-mail on the day it is back.',
      'The shop in Annecy has two left today, if you can call by.',
    ],
    wrong: 'This article is no longer made, and will not come back.',
    tool: {
      name: 'check_stock',
      arguments: { article: 'ALP-45-GRN' },
      result: { online: 0, shops: { Annecy: 2 }, nextDelivery: '2026-11-23' },
    },
  },
];

const CUSTOMERS = [
  { name: 'Amélie Durand', plan: 'Trail Club', country: 'FR', locale: 'fr-FR', orders: 14 },
  { name: 'Jonas Weber', plan: 'guest', country: 'DE', locale: 'de-DE', orders: 1 },
  { name: 'Priya Nair', plan: 'Trail Club', country: 'GB', locale: 'en-GB', orders: 32 },
  { name: 'Mateo García', plan: 'standard', country: 'ES', locale: 'es-ES', orders: 5 },
];

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
      ? 'All three facts of the expected answer are there, and nothing contradicts it.'
      : correct === 0
        ? `The answer contradicts the expected one: “${topic.wrong}”`
        : `The answer is right as far as it goes, but it leaves out: “${missing}”`;
  const tone = isDown ? 0.62 : 0.91;
  return {
    correctness: judged(correct, reason, random),
    tone: random.chance(0.0008)
      ? { error: 'the judge answered twice without a `score`: expected {"score": number, "reason": string}' }
      : judged(
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
    'vs_baseline.correctness.drop <= 0.03',
  ],
  timeoutMs: 20_000,
  dataset: 'datasets/customers.jsonl',
  file: 'tests/support.rs',
  quality: withRegression(0.86, 0.95, REGRESSION),
  execute,
};
