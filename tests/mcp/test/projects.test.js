// Several projects: folders on the command line, and the client's roots.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Assistant, CLIENTS } from '../src/clients.js';
import { Project } from '../src/project.js';

for (const [name, client] of CLIENTS) {
  describe(`projects of ${name}`, () => {
    let one;
    let other;
    before(() => {
      one = new Project('clients-one');
      other = new Project('clients-other');
    });

    it('with several projects each result names its project', async () => {
      const args = ['--project', one.root, '--project', other.root];
      await Assistant.with(client(), { folder: tmpdir(), args }, async (assistant) => {
        for (const { name, root } of [one, other]) {
          assert.deepEqual((await assistant.call('cobalt_results', { project: name })).project, {
            name,
            root,
          });
          assert.deepEqual((await assistant.call('cobalt_results', { project: root })).project, {
            name,
            root,
          });
        }
        const { text } = await assistant.fails('cobalt_results', {});
        assert.match(text, /clients-one/);
        assert.match(text, /clients-other/);
        const { resources } = await assistant.client.listResources();
        const settings = resources.filter(({ uri }) => uri.startsWith('cobalt://config'));
        assert.equal(settings.length, 2);
        for (const { uri } of settings) await assistant.client.readResource({ uri });
      });
    });

    it('a root of the client is a project', async () => {
      const options = { capabilities: { roots: { listChanged: true } } };
      const speaker = client(options);
      let asked = 0;
      const tell = async () => {
        asked += 1;
        return { roots: [{ uri: pathToFileURL(one.root).href, name: 'one' }] };
      };
      const prepare = () =>
        speaker instanceof LegacyClient
          ? speaker.setRequestHandler(ListRootsRequestSchema, tell)
          : speaker.setRequestHandler('roots/list', tell);
      await Assistant.with(speaker, { folder: tmpdir(), prepare }, async (assistant) => {
        const { project } = await assistant.call('cobalt_results', {});
        assert.deepEqual(project, { name: one.name, root: one.root });
        assert.ok(asked > 0);
      });
    });
  });
}
