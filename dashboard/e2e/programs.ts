// The programs under test, built beforehand: the command, and a slow agent.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const WORKSPACE = resolve(import.meta.dirname, '../..');
const BUILT = join(process.env.CARGO_TARGET_DIR ?? join(WORKSPACE, 'target'), 'debug');

/** The command with the embedded page. `COBALT_BIN` overrides the one of this workspace. */
export const COBALT = process.env.COBALT_BIN ?? join(BUILT, 'cargo-cobalt');

/** The test binary of `tests/fixtures/steered.rs`; its items control the agent. */
export const STEERED = join(BUILT, 'steered');

/** The global setup of Playwright. */
export default function build(): void {
  const cargo = (...args: string[]) => execFileSync('cargo', args, { cwd: WORKSPACE, stdio: 'inherit' });
  if (!process.env.COBALT_BIN) cargo('build', '--quiet', '--package', 'cargo-cobalt');
  cargo('build', '--quiet', '--package', 'cobalt-e2e', '--bin', 'steered');
  for (const program of [COBALT, STEERED]) {
    if (!existsSync(program)) throw new Error(`${program} not found: build it, or set COBALT_BIN`);
  }
}
