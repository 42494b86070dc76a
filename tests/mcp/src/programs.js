// The command under test, and the environment of programs.
import { dirname, join, resolve } from 'node:path';

export const WORKSPACE = resolve(import.meta.dirname, '../../..');

/** The command built by `cargo test --workspace`, or `COBALT_BIN`. */
export const COBALT =
  process.env.COBALT_BIN ??
  join(resolve(process.env.CARGO_TARGET_DIR ?? join(WORKSPACE, 'target')), 'debug', 'cargo-cobalt');

/** Variables of the caller's environment that would change the behaviour of the programs. */
const FOREIGN =
  /^(COBALT|RUST_TEST|CARGO_PKG|CARGO_MANIFEST|GITHUB|CI|NODE_TEST|XDG|OPENAI|ANTHROPIC|GEMINI|GOOGLE)/;

/** The environment of programs: the target folder and the build settings of the end-to-end tests, and no network for cargo. */
export function environment(more = {}) {
  const own = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  return {
    ...Object.fromEntries(own),
    CARGO_TARGET_DIR: join(dirname(dirname(COBALT)), 'projects'),
    CARGO_PROFILE_DEV_DEBUG: '0',
    CARGO_PROFILE_DEV_STRIP: 'symbols',
    CARGO_NET_OFFLINE: 'true',
    ...more,
  };
}
