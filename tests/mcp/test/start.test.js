// How fast the server starts.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Project } from '../src/project.js';
import { writeRun } from '../src/store.js';
import { Server } from '../src/transport.js';

const STARTS = 9;
/** The goal on an idle machine is 50 ms; this limit only catches another order of magnitude. */
const MOST_MS = 1000;

describe('the start', () => {
  let project;
  before(() => {
    project = new Project('clients-start');
    writeRun(project, 1, 10_000);
  });

  it('tools are listed soon after the process starts', async (test) => {
    const times = [];
    for (let start = 0; start < STARTS; start += 1) times.push(await timed(project.root));
    const median = times.sort((one, other) => one - other)[Math.floor(STARTS / 2)];
    test.diagnostic(`tools/list is answered ${median.toFixed(1)} ms after the start (median of ${STARTS})`);
    assert.ok(median < MOST_MS, `tools/list is answered after ${median} ms`);
  });
});

/** The milliseconds from the start of a process to its response to `tools/list`. */
async function timed(folder) {
  const server = new Server({ folder });
  const began = performance.now();
  const answered = new Promise((resolve) => {
    server.onmessage = (message) => {
      if (message.id === 2) resolve(performance.now() - began);
    };
  });
  await server.start();
  const clientInfo = { name: 'tests', version: '1' };
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  await server.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello });
  await server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await server.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  try {
    return await answered;
  } finally {
    await server.close();
  }
}
