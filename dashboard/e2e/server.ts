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
  /** The user's project folder; its store is `.cobalt`. */
  project: string;
  stop(): Promise<void>;
}

export async function serve(store: StoreName): Promise<Server> {
  // The page shows the name of the project folder.
  const parent = mkdtempSync(join(tmpdir(), 'cobalt-'));
  const project = join(parent, store);
  const folder = writeStore(store, project);
  const server = spawn(COBALT, ['cobalt', 'serve', '--no-open', '--port', '0'], {
    cwd: project,
    env: { ...process.env, COBALT_DIR: folder, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = async () => {
    await stopProcess(server);
    rmSync(parent, { recursive: true, force: true });
  };
  try {
    return { url: await waitForUrl(server), project, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits for the line of stderr with the address. */
async function waitForUrl(server: ChildProcess): Promise<string> {
  if (!server.stderr) throw new Error('the server has no stderr');
  const output: string[] = [];
  const lines = createInterface({ input: server.stderr });
  const url = new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      output.push(line);
      const url = /http:\/\/[^\s;/]+/.exec(line)?.[0];
      if (url) resolve(url);
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
  return Promise.race([url, failure]);
}

async function stopProcess(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill('SIGINT');
  const force = setTimeout(() => server.kill('SIGKILL'), 5000);
  await exit;
  clearTimeout(force);
}
