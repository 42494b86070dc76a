// The programs that the tests drive, built beforehand: the command, and an agent that takes its time.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const WORKSPACE = resolve(import.meta.dirname, '../..');
const BUILT = join(process.env.CARGO_TARGET_DIR ?? join(WORKSPACE, 'target'), 'debug');

/** The command with the page in it; `COBALT_BIN` names another than that of this workspace. */
export const COBALT = process.env.COBALT_BIN ?? join(BUILT, 'cargo-cobalt');

/** The test binary of `tests/fixtures/steered.rs`, whose agent does what its items say. */
export const STEERED = join(BUILT, 'steered');

/** What Playwright calls before all tests. */
export default function build(): void {
  const cargo = (...args: string[]) => execFileSync('cargo', args, { cwd: WORKSPACE, stdio: 'inherit' });
  if (!process.env.COBALT_BIN) cargo('build', '--quiet', '--package', 'cargo-cobalt');
  cargo('build', '--quiet', '--package', 'cobalt-e2e', '--bin', 'steered');
  for (const program of [COBALT, STEERED]) {
    if (!existsSync(program)) throw new Error(`there is no ${program}: build it, or name it by COBALT_BIN`);
  }
}
