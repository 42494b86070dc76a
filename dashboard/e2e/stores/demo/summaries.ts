// The demo's agent that summarizes incident reports. It has no thresholds, so every item must pass.
import type { Execution } from '../../../src/api/types';
import { clamp, Random, rounded } from '../random';
import {
  type Attempt,
  answered,
  failed,
  type Scenario,
  type Subject,
  traceId,
  withRegression,
} from './scenario';

const SERVICES = [
  'checkout',
  'search',
  'the login page',
  'the mobile API',
  'invoicing',
  'the image store',
] as const;
const CAUSES = [
  'a certificate that had expired',
  'a migration that locked the orders table',
  'a cache that was filled with empty answers',
  'a deployment with the wrong feature flag',
  'a disk that ran full of logs',
] as const;
const FIXES = [
  'rolling back to the release of the day before',
  'renewing the certificate and adding an alert',
  'killing the migration and running it in batches',
  'emptying the cache and raising its limit',
] as const;

interface Incident {
  service: string;
  cause: string;
  fix: string;
  minutes: number;
  customers: number;
}

const incidents = new Map<string, Incident>();
const subjects: Subject[] = Array.from({ length: 30 }, (_, number) => {
  const random = new Random(`incident ${number}`);
  const incident = {
    service: random.pick(SERVICES),
    cause: random.pick(CAUSES),
    fix: random.pick(FIXES),
    minutes: random.whole(7, 190),
    customers: random.whole(40, 9000),
  };
  const key = `incident-${2026}-${String(number + 101)}`;
  incidents.set(key, incident);
  return {
    key,
    input: {
      id: key,
      severity: random.whole(1, 3),
      report: report(incident),
      maxWords: 48,
      audience: 'customers',
      expectedOutput: summary(incident),
    },
  };
});

function report({ service, cause, fix, minutes, customers }: Incident): string {
  return [
    `At 09:${String(minutes % 60).padStart(2, '0')} the on-call engineer was paged because ${service} answered with errors.`,
    `First suspicion fell on the load balancer, which was ruled out after a quarter of an hour.`,
    `The cause was ${cause}. About ${customers} customers saw an error page at least once.`,
    `Service came back after ${minutes} minutes by ${fix}.`,
    `Follow-ups: a runbook, a dashboard for the queue, and a review of the alert that came late.`,
  ].join('\n\n');
}

function summary({ service, cause, fix, minutes, customers }: Incident): string {
  return `For ${minutes} minutes ${service} failed for about ${customers} customers because of ${cause}. It was fixed by ${fix}.`;
}

function execute({ subject, grade, random }: Attempt): Execution {
  const incident = incidents.get(subject.key);
  if (!incident) throw new Error(`no such item: ${subject.key}`);
  if (random.chance(0.003))
    return failed('error', 'the provider answered 429 Too Many Requests: rate limit reached', 610);
  const { service, cause, fix, minutes, customers } = incident;
  const parts = [
    `${service[0]?.toUpperCase()}${service.slice(1)} was down for ${minutes} minutes.`,
    grade > 0.5 ? `The reason was ${cause}.` : 'The reason is being looked into.',
    grade > 0.62 ? `Around ${customers} customers were affected.` : '',
    grade > 0.74 ? `We fixed it by ${fix}.` : '',
    random.chance(0.2) ? 'We are sorry for the trouble.' : '',
  ].filter(Boolean);
  const text = parts.join(' ');
  const words = text.split(' ').length;
  const run = answered(text, random.logNormal(1900, 0.3), {
    model: 'gpt-5.4',
    tokens: { input: random.whole(260, 420), output: words + random.whole(8, 20) },
    traceId: traceId(random),
  });
  run.evaluations = {
    coverage: {
      score: rounded(clamp(0.25 + grade * 0.78), 4),
      reason: `${parts.length} of 4 points of the report are covered`,
    },
    similarity: { score: rounded(clamp(0.45 + grade * 0.5 + random.normal(0, 0.04)), 4) },
    brevity: { score: words <= 48 ? 1 : 0, reason: `${words} words, at most 48` },
  };
  return run;
}

export const summaries: Scenario = {
  name: 'incident-summaries',
  nights: 14,
  subjects,
  evaluators: [{ name: 'coverage' }, { name: 'similarity', passMark: 0.6 }, { name: 'brevity' }],
  strict: true,
  dataset: 'datasets/incidents.csv',
  file: 'tests/summaries.rs',
  quality: withRegression(0.84, 1.12, { after: 0.2, until: 0.3, by: 0.3 }),
  execute,
};
