// Shared by the experiments of the demo: run times, agent quality and costs.
import type { Evaluation, Execution } from '../../../src/api/types';
import type { Plan, PlannedItem } from '../plan';
import { price } from '../prices';
import { clamp, digits, Random, rounded } from '../random';

/** An experiment and its simulated agent. */
export interface Scenario
  extends Pick<
    Plan,
    'name' | 'evaluators' | 'thresholds' | 'runs' | 'timeoutMs' | 'dataset' | 'file' | 'strict'
  > {
  /** The number of complete runs over the four weeks. */
  nights: number;
  subjects: Subject[];
  /** The agent's quality from 0 to 1 at a point of the four weeks. */
  quality(progress: number): number;
  execute(attempt: Attempt): Execution;
}

export interface Subject {
  key: string;
  input: Record<string, unknown>;
}

/** One trial of an item. */
export interface Attempt {
  subject: Subject;
  /** The quality of this trial: the agent's quality minus the item's difficulty. */
  grade: number;
  progress: number;
  random: Random;
}

const START = Date.UTC(2026, 9, 19, 2, 30);
const DAY = 24 * 3600 * 1000;
const WEEKS = 4;

/** The start time of a run; nightly runs start within half an hour. */
export function moment(progress: number, random: Random): Date {
  return new Date(START + progress * (WEEKS * 7 - 1) * DAY + random.whole(0, 1_800_000));
}

export function commitAt(progress: number): string {
  return digits(`commit ${Math.floor(progress * 41)}`, 40);
}

/** Runs every item with the agent of that time. The difficulty of an item is the same in every run. */
export function runItems(
  scenario: Scenario,
  progress: number,
  seed: string,
  subjects = scenario.subjects,
): PlannedItem[] {
  const quality = scenario.quality(progress);
  return subjects.map((subject) => {
    const hardness = new Random(`${scenario.name} ${subject.key}`).normal(0, 0.16);
    const random = new Random(`${scenario.name} ${seed} ${subject.key}`);
    const attempt = () => {
      const grade = clamp(quality - hardness + random.normal(0, 0.05));
      return scenario.execute({ subject, grade, progress, random });
    };
    return { ...subject, executions: Array.from({ length: scenario.runs ?? 1 }, attempt) };
  });
}

/** A linear trend with a temporary drop, as after a prompt change that is reverted later. */
export function withRegression(from: number, to: number, fall: { after: number; until: number; by: number }) {
  return (progress: number) => {
    const isDown = progress > fall.after && progress < fall.until;
    return from + (to - from) * progress - (isDown ? fall.by : 0);
  };
}

export function answered(output: unknown, latencyMs: number, metadata: Record<string, unknown>): Execution {
  const latency = rounded(latencyMs, 3);
  return { output: { output, metadata }, latencyMs: latency, evaluations: {}, status: 'ok' };
}

export function failed(status: 'error' | 'timeout', error: string, latencyMs: number): Execution {
  return { output: { output: '' }, latencyMs: rounded(latencyMs, 3), evaluations: {}, status, error };
}

export function traceId(random: Random): string {
  return digits(String(random.next()), 32);
}

/** The evaluation of a judge, with its cost. */
export function judgeResult(
  score: number,
  reason: string,
  random: Random,
  chainOfThought?: string,
): Evaluation {
  const tokens = { input: random.whole(380, 720), output: random.whole(45, 140) };
  const model = 'gpt-5.4-mini';
  const judge = { models: [model], calls: 1, cached: 0, tokens, cost: price(model, tokens) };
  return { score: rounded(clamp(score), 2), reason, ...(chainOfThought && { chainOfThought }), judge };
}
