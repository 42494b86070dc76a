// Result files in a project's store, as the library writes them.
import { mkdirSync } from 'node:fs';

const NAMES = ['correct', 'tone'];

/** Writes the result file of a run with `count` items; a higher `number` is a later and better run. Returns its ID. */
export function writeRun(project, number, count, sentences = 4) {
  const id = (0xa0 + number).toString(16).padEnd(12, '0');
  const timestamp = `2026-01-0${number}T10:00:00.000Z`;
  const items = Array.from({ length: count }, (_, index) => item(index, number, sentences));
  const report = {
    schema: 1,
    id,
    name: 'large',
    timestamp,
    tags: ['nightly'],
    config: { runs: 1, concurrency: 4, timeout: 30_000, evaluators: NAMES },
    summary: {
      totalItems: count,
      totalDurationMs: 900,
      avgLatencyMs: 12.5,
      estimatedCost: 0.02,
      scores: Object.fromEntries(NAMES.map((name) => [name, statistics(items, name)])),
    },
    passed: items.every((item) => item.passed),
    items,
  };
  mkdirSync(project.path('.cobalt/results'), { recursive: true });
  const started = timestamp.slice(0, 19).replaceAll(':', '-');
  project.write(`.cobalt/results/${started}_large_${id}.json`, JSON.stringify(report));
  return id;
}

function item(index, number, sentences) {
  const isRight = index % 10 >= 6 - number;
  return {
    index,
    key: `item-${index}`,
    input: {
      input: `${index}: A customer asks why the parcel is late. `.repeat(sentences),
      expectedOutput: 'late',
    },
    output: { output: 'It is late as there is snow. '.repeat(sentences), metadata: { model: 'gpt-4o-mini' } },
    latencyMs: 10 + (index % 7),
    evaluations: {
      correct: { score: isRight ? 1 : 0, reason: 'It is said why. '.repeat(sentences) },
      tone: { score: ((index * 7919) % 1000) / 1000 },
    },
    status: 'ok',
    passed: isRight,
  };
}

function statistics(items, name) {
  const scores = items.map((item) => item.evaluations[name].score).sort((one, other) => one - other);
  const at = (share) => scores[Math.min(scores.length - 1, Math.floor(share * scores.length))];
  const avg = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return { avg, min: at(0), max: at(1), p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
