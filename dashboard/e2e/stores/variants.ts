// A store with a group of three variants of one experiment, and a run of it that was scored again.
import type { Execution, Report } from '../../src/api/types';
import { questions } from './demo/questions';
import { commitAt, moment, runItems } from './demo/scenario';
import type { PlannedItem } from './plan';
import { digits, Random } from './random';
import { reportOf } from './report';

interface Variant {
  name: string;
  settings: { model: string; temperature: number };
  /** The quality of the agent from 0 to 1. */
  quality: number;
  /** How many times as long it takes. */
  slowness: number;
}

const EXPERIMENT = questions.name;
const GROUP = digits('variants', 12);
const DEFAULT = 'mini';
const VARIANTS: Variant[] = [
  { name: 'luna', settings: { model: 'gpt-5.6-luna', temperature: 0 }, quality: 0.62, slowness: 0.6 },
  { name: 'mini', settings: { model: 'gpt-5.4-mini', temperature: 0 }, quality: 0.85, slowness: 0.9 },
  { name: 'large', settings: { model: 'gpt-5.4', temperature: 0.2 }, quality: 0.87, slowness: 1.7 },
];

export function variants(): Report[] {
  const runs = VARIANTS.map(runOf);
  const [origin] = runs;
  return origin ? [...runs, rescored(origin)] : runs;
}

function runOf({ name, settings, quality, slowness }: Variant, position: number): Report {
  const isDefault = name === DEFAULT;
  const items = runItems({ ...questions, quality: () => quality }, 0.5, `variant ${name}`);
  const report = reportOf({
    ...questions,
    name: isDefault ? EXPERIMENT : `${EXPERIMENT}::${name}`,
    number: position,
    timestamp: moment(0.5, new Random('variants')),
    commit: commitAt(0.5),
    thresholds: [],
    strict: false,
    items: items.map((item) => withModel(item, settings.model, slowness)),
  });
  const variant = { experiment: EXPERIMENT, name, group: GROUP, position, isDefault, settings };
  return { ...report, variant };
}

function withModel(item: PlannedItem, model: string, slowness: number): PlannedItem {
  const change = (run: Execution): Execution => ({
    ...run,
    latencyMs: run.latencyMs * slowness,
    output: run.output.metadata ? { ...run.output, metadata: { ...run.output.metadata, model } } : run.output,
  });
  return { ...item, executions: item.executions.map(change) };
}

/** The outputs of a run with the scores of a changed evaluator. */
function rescored(origin: Report): Report {
  return {
    ...origin,
    id: digits(`rescored ${origin.id}`, 12),
    timestamp: new Date(Date.parse(origin.timestamp) + 3_600_000).toISOString(),
    variant: undefined,
    rescored: {
      run: origin.id,
      timestamp: origin.timestamp,
      evaluators: ['faithfulness'],
      notes: ['1 output was cut and cannot be scored as a whole'],
    },
  };
}
