// The store for screenshots: four experiments over four weeks.
import type { Report } from '../../../src/api/types';
import type { Plan } from '../plan';
import { Random } from '../random';
import { reportOf } from '../report';
import { withTraffic } from '../traffic';
import { extraction } from './extraction';
import { questions } from './questions';
import { commitAt, failed, moment, runItems, type Scenario } from './scenario';
import { summaries } from './summaries';
import { supportAgent } from './support-agent';

/** The position of the baseline within the four weeks. */
const BASELINE = 0.35;

export function demo(): Report[] {
  return [supportAgent, questions, extraction, summaries].flatMap(history);
}

function history(scenario: Scenario): Report[] {
  const random = new Random(`history of ${scenario.name}`);
  const reports: Report[] = [];
  let baseline: Report | undefined;
  for (let night = 0; night < scenario.nights; night += 1) {
    const progress = night / (scenario.nights - 1);
    const run = reportOf({ ...plan(scenario, progress, night, random), baseline });
    if (progress >= BASELINE && !baseline && run.passed && !run.summary.traffic) baseline = run;
    reports.push(run);
  }
  return [...reports, ...extraRuns(scenario, random, baseline)];
}

/** The tag of runs for a pull request, whose model responses are replayed. */
export const REPLAYED_TAG = 'pr-214';

function plan(scenario: Scenario, progress: number, number: number, random: Random): Plan {
  const items = runItems(scenario, progress, `night ${number}`);
  const isReplayed = tagsOf(number).includes(REPLAYED_TAG);
  return {
    ...scenario,
    number,
    timestamp: moment(progress, random),
    tags: tagsOf(number),
    commit: commitAt(progress),
    dirty: number % 11 === 5,
    items: isReplayed ? withTraffic(items, `traffic of ${scenario.name} ${number}`) : items,
  };
}

function tagsOf(number: number): string[] {
  if (number % 9 === 4) return [REPLAYED_TAG];
  return number % 5 === 2 ? ['main', 'nightly'] : ['nightly'];
}

/** Runs other than the nightly ones: a partial manual run, and a night without network. */
function extraRuns(scenario: Scenario, random: Random, baseline: Report | undefined): Report[] {
  const tried = scenario.subjects.slice(0, 6);
  const partial: Plan = {
    ...plan(scenario, 0.93, 100, random),
    tags: [],
    dirty: true,
    partialOf: scenario.subjects.length,
    items: runItems(scenario, 0.93, 'manual', tried),
  };
  if (scenario !== questions) return [reportOf(partial)];
  const broken: Plan = {
    ...plan(scenario, 0.57, 101, random),
    tags: ['nightly'],
    baseline,
    items: scenario.subjects.map((subject) => ({
      ...subject,
      executions: [failed('error', 'could not reach api.openai.com: the name could not be resolved', 31)],
    })),
  };
  return [reportOf(partial), reportOf(broken)];
}
