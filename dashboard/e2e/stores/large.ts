// A store after years of use: 2,000 runs, and two of 10,000 items; it must open as fast as a small one.
import type { Execution, Report } from '../../src/api/types';
import type { Plan, PlannedItem } from './plan';
import { digits, Random, rounded } from './random';
import { reportOf } from './report';
import { RECORDED_AT } from './traffic';

const LARGE_RUNS = 2000;
export const LARGE_ITEMS = 10_000;
const HUGE_ITEMS = 50_000;
const HOUR = 3600 * 1000;
const START = Date.UTC(2026, 5, 1);

/** Two runs of 50,000 items. */
export function* huge(): Generator<Report> {
  for (const number of [0, 1]) {
    yield reportOf(plan('fifty-thousand-items', number, items(`huge ${number}`, HUGE_ITEMS)));
  }
}

export function* large(): Generator<Report> {
  for (let number = 0; number < LARGE_RUNS; number += 1) {
    yield reportOf(plan(nameOf(number), number, items(`run ${number}`, 3)));
  }
  for (const number of [0, 1]) {
    const many = items(`large ${number}`, LARGE_ITEMS);
    yield reportOf(plan('ten-thousand-items', LARGE_RUNS + number, many));
  }
}

/** Half of the runs are of one experiment. */
const nameOf = (number: number) => `agent-${number % 2 === 0 ? 0 : number % 20}`;

function plan(name: string, number: number, items: PlannedItem[]): Plan {
  return {
    name,
    number,
    timestamp: new Date(START + number * 2 * HOUR),
    tags: number % 3 === 0 ? ['nightly'] : ['main'],
    evaluators: [{ name: 'correctness' }, { name: 'tone' }],
    thresholds: ['correctness.avg >= 0.5'],
    commit: digits(`large ${Math.floor(number / 10)}`, 40),
    items,
  };
}

function items(seed: string, count: number): PlannedItem[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, place) => {
    const key = `item-${String(place).padStart(5, '0')}`;
    const question = `How is case ${place} to be handled, when the customer has written ${(place % 7) + 1} times already?`;
    const expectedOutput = `Case ${place} goes to desk ${place % 12}, with an answer within ${(place % 5) + 1} days.`;
    return {
      key,
      input: { id: key, question, expectedOutput, locale: 'en' },
      executions: [execution(place, random)],
    };
  });
}

function execution(place: number, random: Random): Execution {
  const latencyMs = rounded(random.logNormal(800, 0.5), 3);
  if (random.chance(0.005)) {
    return {
      output: { output: '' },
      latencyMs,
      evaluations: {},
      status: 'error',
      error: 'the connection was reset',
    };
  }
  const isRight = random.chance(0.85);
  const output = `Case ${place} goes to desk ${isRight ? place % 12 : 99}. Expect an answer within ${(place % 5) + 1} days, as our handbook has it.`;
  const metadata = {
    model: 'gpt-5.6-luna',
    tokens: { input: random.whole(300, 900), output: random.whole(20, 60) },
  };
  const correctness = {
    score: isRight ? 1 : 0,
    reason: isRight ? 'the desk is right' : `desk ${place % 12} was expected`,
  };
  const tone = { score: rounded(0.6 + random.next() * 0.4, 3) };
  const asked = Array.from({ length: 8 }, (_, message) => digits(`message ${place} ${message}`, 10));
  const traffic = { replayed: 4, recordedAt: RECORDED_AT, asked };
  return {
    output: { output, metadata },
    latencyMs,
    evaluations: { correctness, tone },
    status: 'ok',
    traffic,
  };
}
