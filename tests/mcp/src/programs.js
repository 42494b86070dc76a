// The command under test, and where its programs are built.
import { dirname, join, resolve } from 'node:path';

export const WORKSPACE = resolve(import.meta.dirname, '../../..');

/** The command as `cargo test --workspace` has built it; `COBALT_BIN` names another. */
export const COBALT =
  process.env.COBALT_BIN ??
  join(resolve(process.env.CARGO_TARGET_DIR ?? join(WORKSPACE, 'target')), 'debug', 'cargo-cobalt');

/** Variables of whoever runs the tests, by which the programs would behave otherwise. */
const FOREIGN =
  /^(COBALT|RUST_TEST|CARGO_PKG|CARGO_MANIFEST|GITHUB|CI|NODE_TEST|XDG|OPENAI|ANTHROPIC|GEMINI|GOOGLE)/;

/** What programs find in their environment: what they build goes to a folder that all tests share, and comes from no network. */
export function environment(more = {}) {
  const own = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  return {
    ...Object.fromEntries(own),
    CARGO_TARGET_DIR: join(dirname(dirname(COBALT)), 'projects'),
    CARGO_NET_OFFLINE: 'true',
    ...more,
  };
}
