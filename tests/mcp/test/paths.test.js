// Paths in arguments that lead outside the project.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Assistant, CLIENTS } from '../src/clients.js';
import { Project } from '../src/project.js';

const [[, client]] = CLIENTS;

describe('paths outside the project', () => {
  let project;
  let assistant;
  before(async () => {
    project = new Project('clients-paths');
    // The targets exist and would be valid inside the project.
    cpSync(project.root, join(project.parent, 'outside'), { recursive: true });
    symlinkSync(join(project.parent, 'outside/src'), project.path('linked'));
    symlinkSync(join(project.parent, 'outside/src/lib.rs'), project.path('src/linked.rs'));
    assistant = await Assistant.connect(client(), { folder: project.root });
  });
  after(() => assistant?.close());

  const outside = () => [
    '../outside/src/lib.rs',
    'src/../../outside/src/lib.rs',
    join(project.parent, 'outside/src/lib.rs'),
    'linked/lib.rs',
    'src/linked.rs',
    '/etc/passwd',
  ];

  it('no such file is run', async () => {
    for (const file of outside()) {
      const { text } = await assistant.fails('cobalt_run', { file });
      assert.match(text, /`file`/, file);
      assert.match(text, /inside|outside/, file);
    }
  });

  it('no such agent is read', async () => {
    for (const agentFile of outside()) {
      const { text } = await assistant.fails('cobalt_generate', { agentFile });
      assert.match(text, /`agentFile`/, agentFile);
      assert.match(text, /inside|outside/, agentFile);
    }
  });

  it('nothing is written there', async () => {
    for (const outputFile of [
      '../outside/tests/written.rs',
      join(project.parent, 'outside/tests/written.rs'),
      'linked/written.rs',
    ]) {
      const { text } = await assistant.fails('cobalt_generate', { agentFile: 'src/lib.rs', outputFile });
      assert.match(text, /`outputFile`/, outputFile);
      assert.match(text, /inside|outside/, outputFile);
    }
    const written = readdirSync(join(project.parent, 'outside'), { recursive: true });
    assert.ok(!written.some((path) => path.endsWith('written.rs')));
  });
});
