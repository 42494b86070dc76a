// A run in progress: the test binary of `tests/fixtures/steered.rs`, started like `cargo cobalt run` does.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STEERED } from './programs';

interface SlowRun {
  experiment: string;
  items: number;
  /** The agent's time per item in milliseconds; items run sequentially. */
  msPerItem: number;
}

/** Starts a run in a project folder; its store is `.cobalt`. */
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

/** Waits until the run ends; `signal` kills it. */
export async function end(run: ChildProcess, signal?: NodeJS.Signals): Promise<void> {
  if (run.exitCode !== null || run.signalCode !== null) return;
  const exit = once(run, 'exit');
  if (signal) run.kill(signal);
  await exit;
}
