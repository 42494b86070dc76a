// A dashboard server with its own store, on a free port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { COBALT } from './programs';
import { type StoreName, writeStore } from './stores/write';

/** The time limit for the server to print its address, in milliseconds. */
const START_TIMEOUT_MS = 30_000;

export interface Server {
  url: string;
  /** The printed link, with the write token. A restart changes the token. */
  readonly link: string;
  /** The user's project folder; its store is `.cobalt`. */
  project: string;
  /** Stops the server, and starts it at the same address after `meanwhile`. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server over a new project. `prepare` adds files to it, and returns variables for the server, which gets these flags. */
export async function serve(
  store: StoreName,
  prepare: (project: string) => Record<string, string> = () => ({}),
  flags: string[] = [],
): Promise<Server> {
  // The page shows the name of the project folder.
  const parent = mkdtempSync(join(tmpdir(), 'cobalt-'));
  const project = join(parent, store);
  const folder = writeStore(store, project);
  const env = { ...process.env, COBALT_DIR: folder, NO_COLOR: '1', ...prepare(project) };
  const start = (port: string) =>
    spawn(COBALT, ['cobalt', 'serve', '--no-open', '--port', port, ...flags], {
      cwd: project,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  let server = start('0');
  const stop = async () => {
    await stopProcess(server);
    rmSync(parent, { recursive: true, force: true });
  };
  try {
    let link = await waitForLink(server);
    const { origin, port } = new URL(link);
    const restart = async (meanwhile: () => Promise<void>) => {
      await stopProcess(server);
      await meanwhile();
      server = start(port);
      link = await waitForLink(server);
    };
    return {
      url: origin,
      get link() {
        return link;
      },
      project,
      restart,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits for the line of stderr with the link. */
async function waitForLink(server: ChildProcess): Promise<string> {
  if (!server.stderr) throw new Error('the server has no stderr');
  const output: string[] = [];
  const lines = createInterface({ input: server.stderr });
  const link = new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      output.push(line);
      const link = /http:\/\/[^\s;]+/.exec(line)?.[0];
      if (link) resolve(link);
    });
    server.on('error', reject);
    server.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${output.join('\n')}`)));
  });
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  const failure = new Promise<never>((_, reject) => {
    timeout.addEventListener('abort', () =>
      reject(new Error(`the server printed no address: ${output.join('\n')}`)),
    );
  });
  return Promise.race([link, failure]);
}

async function stopProcess(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill('SIGINT');
  const force = setTimeout(() => server.kill('SIGKILL'), 5000);
  await exit;
  clearTimeout(force);
}
