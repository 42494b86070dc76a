// The command line of the official inspector.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { COBALT, environment } from '../src/programs.js';
import { Project } from '../src/project.js';

const INSPECTOR = join(
  import.meta.dirname,
  '../node_modules/@modelcontextprotocol/inspector-cli/build/cli.js',
);

describe('the inspector', () => {
  let project;
  before(() => {
    project = new Project('clients-inspector');
  });

  async function inspect(method, ...args) {
    const server = [COBALT, 'cobalt', 'mcp', '--project', project.root];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [INSPECTOR, '--cli', ...server, '--method', method, ...args],
      // It looks for its own package.json from the folder that it is started in.
      { cwd: import.meta.dirname, env: environment(), timeout: 240_000, maxBuffer: 1 << 24 },
    );
    return JSON.parse(stdout);
  }

  it('lists and calls tools', async () => {
    const { tools } = await inspect('tools/list');
    assert.deepEqual(tools.map((tool) => tool.name).sort(), [
      'cobalt_compare',
      'cobalt_generate',
      'cobalt_list',
      'cobalt_results',
      'cobalt_run',
    ]);
    const call = (name, ...args) =>
      inspect('tools/call', '--tool-name', name, ...args.flatMap((arg) => ['--tool-arg', arg]));
    const listed = await call('cobalt_list', 'filter=capitals');
    assert.equal(listed.structuredContent.experiments[0].experiment.name, 'capitals');
    const ran = await call('cobalt_run', 'experiments=["capitals"]', 'concurrency=2');
    assert.equal(ran.structuredContent.runs[0].items[0].key, 'italy');
    const read = await call('cobalt_results', 'runId=latest', 'maxScore=0.5');
    assert.equal(read.structuredContent.run.itemsMatching, 1);
  });

  it('lists and reads resources', async () => {
    const { resources } = await inspect('resources/list');
    assert.ok(resources.some((resource) => resource.uri === 'cobalt://experiments'));
    const { contents } = await inspect('resources/read', '--uri', 'cobalt://experiments');
    assert.match(contents[0].text, /tests\/capitals\.rs/);
    const { resourceTemplates } = await inspect('resources/templates/list');
    assert.equal(resourceTemplates.length, 3);
  });

  it('lists and gets prompts', async () => {
    const { prompts } = await inspect('prompts/list');
    assert.equal(prompts.length, 3);
    const args = ['--prompt-name', 'generate-tests', '--prompt-args', 'agentFile=src/lib.rs'];
    const { messages } = await inspect('prompts/get', ...args);
    assert.match(messages[0].content.text, /src\/lib\.rs/);
  });
});
