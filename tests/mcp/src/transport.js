// A server for a client, with checks of every line on stdout.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { COBALT, environment } from './programs.js';

/** How long the server may take to exit after stdin is closed, in milliseconds. */
const TIME_TO_END = 15_000;

/** A transport as both generations of the client know it. */
export class Server {
  /** All messages from the server. */
  heard = [];
  /** The lines on stdout that are not messages. */
  strayLines = [];
  stderr = '';

  constructor({ folder, args = [], env = {} }) {
    this.start_ = () =>
      spawn(COBALT, ['cobalt', 'mcp', ...args], { cwd: folder, env: environment(env), stdio: 'pipe' });
  }

  async start() {
    this.process = this.start_();
    this.ended = once(this.process, 'close').then(([code]) => code);
    this.process.stderr.on('data', (data) => {
      this.stderr += data;
    });
    createInterface({ input: this.process.stdout }).on('line', (line) => this.#hear(line));
    this.process.stdin.on('error', (error) => this.onerror?.(error));
    this.process.on('close', () => this.onclose?.());
    await once(this.process, 'spawn');
  }

  #hear(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.strayLines.push(line);
      return;
    }
    if (message?.jsonrpc !== '2.0') this.strayLines.push(line);
    this.heard.push(message);
    this.onmessage?.(message);
  }

  async send(message) {
    this.say(JSON.stringify(message));
  }

  /** Sends a line of any content. */
  say(line) {
    this.process.stdin.write(`${line}\n`);
  }

  /** Closes stdin, and waits for the server to exit. */
  async close() {
    if (!this.process) return;
    this.process.stdin.end();
    const force = setTimeout(() => this.process.kill('SIGKILL'), TIME_TO_END);
    await this.ended;
    clearTimeout(force);
  }
}
