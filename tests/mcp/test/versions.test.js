// Every protocol version, with the official clients.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Assistant, modern, NEWEST, structured, WITH_INITIALIZE } from '../src/clients.js';
import { COBALT, environment } from '../src/programs.js';
import { Project } from '../src/project.js';

describe('protocol versions', () => {
  let project;
  before(() => {
    project = new Project('clients-versions');
  });

  for (const version of [...WITH_INITIALIZE, NEWEST]) {
    it(`a client of ${version} is answered in it`, async () => {
      await Assistant.with(modern(version), { folder: project.root }, async (assistant) => {
        const { client } = assistant;
        assert.equal(client.getNegotiatedProtocolVersion(), version);
        assert.equal(client.getServerVersion().name, 'cobalt');
        assert.match(client.getInstructions(), /cobalt_run/);
        const result = await assistant.result('cobalt_list');
        assert.notEqual(result.isError, true);
        assert.match(result.content.map((block) => block.text).join('\n'), /capitals/);
        assert.equal(structured(result).project.root, project.root);
        assert.equal(result.structuredContent !== undefined, version >= '2025-06-18');
        const { resources } = await client.listResources();
        assert.ok(resources.some((resource) => resource.uri === 'cobalt://config'));
        const { prompts } = await client.listPrompts();
        assert.ok(prompts.some((prompt) => prompt.name === 'improve-agent'));
      });
    });
  }

  const parameters = () => ({
    command: COBALT,
    args: ['cobalt', 'mcp', '--project', project.root],
    env: environment(),
  });

  it('the first client speaks over its own transport', async () => {
    const client = new LegacyClient({ name: 'tests', version: '1' });
    await client.connect(new LegacyTransport(parameters()), { timeout: 30_000 });
    assert.ok((await client.listTools()).tools.some((tool) => tool.name === 'cobalt_list'));
    await client.close();
  });

  it('the second client negotiates the newest version automatically', async () => {
    const client = new ModernClient(
      { name: 'tests', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new ModernTransport(parameters()), { timeout: 30_000 });
    assert.equal(client.getNegotiatedProtocolVersion(), NEWEST);
    assert.ok((await client.listTools()).tools.some((tool) => tool.name === 'cobalt_list'));
    await client.close();
  });
});
