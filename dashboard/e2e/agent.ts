// A run that is going on: the test binary of `tests/fixtures/steered.rs`, as `cargo cobalt run` starts one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STEERED } from './programs';

export interface SlowRun {
  experiment: string;
  items: number;
  /** How long the agent takes for each item, one after the other, in milliseconds. */
  msPerItem: number;
}

/** Starts a run in the folder of a project, whose store is its `.cobalt`. */
export function start(project: string, { experiment, items, msPerItem }: SlowRun): ChildProcess {
  const lines = Array.from({ length: items }, (_, place) => {
    return JSON.stringify({ id: `question-${place + 1}`, answer: 'Paris', wait_ms: msPerItem });
  });
  writeFileSync(join(project, 'items.jsonl'), lines.join('\n'));
  return spawn(STEERED, [], {
    cwd: project,
    env: {
      ...process.env,
      CARGO_MANIFEST_DIR: project,
      COBALT_DIR: join(project, '.cobalt'),
      E2E_NAME: experiment,
      E2E_CONCURRENCY: '1',
    },
    stdio: 'ignore',
  });
}

/** Waits for its end, or makes one. */
export async function end(run: ChildProcess, signal?: NodeJS.Signals): Promise<void> {
  if (run.exitCode !== null || run.signalCode !== null) return;
  const exit = once(run, 'exit');
  if (signal) run.kill(signal);
  await exit;
}
