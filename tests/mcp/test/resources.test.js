// Resources and their templates, changes, prompts and completion.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Assistant, CLIENTS } from '../src/clients.js';
import { Project } from '../src/project.js';

for (const [name, client] of CLIENTS) {
  describe(`resources and prompts by ${name}`, () => {
    let project;
    let assistant;
    let run;
    before(async () => {
      project = new Project('clients-resources');
      project.write('cobalt.toml', '[judge]\nmodel = "gpt-4o-mini"\napi-key = "sk-very-secret-0123456789"\n');
      assistant = await Assistant.connect(client(), { folder: project.root });
      await assistant.call('cobalt_run', { experiments: ['capitals'] });
      // A second run, as a regression check needs two.
      const ran = await assistant.call('cobalt_run', { experiments: ['capitals'] });
      [run] = ran.runs;
    });
    after(() => assistant?.close());

    const read = async (uri) => {
      const { contents } = await assistant.client.readResource({ uri });
      assert.equal(contents.length, 1);
      assert.deepEqual([contents[0].uri, contents[0].mimeType], [uri, 'application/json']);
      return JSON.parse(contents[0].text);
    };

    it('each resource that is listed can be read', async () => {
      const { resources } = await assistant.client.listResources();
      for (const { uri, name, description } of resources) {
        assert.ok(name && description, uri);
        assert.equal((await read(uri)).project.root, project.root, uri);
      }
      const uris = resources.map((resource) => resource.uri);
      for (const uri of ['cobalt://config', 'cobalt://experiments', 'cobalt://latest-results']) {
        assert.ok(uris.includes(uri), uri);
      }
      assert.ok(uris.includes(`cobalt://runs/${run.id}`));
    });

    it('settings are shown without keys', async () => {
      const text = JSON.stringify(await read('cobalt://config'));
      assert.match(text, /gpt-4o-mini/);
      assert.doesNotMatch(text, /very-secret/);
    });

    it('templates lead to a run and its items', async () => {
      const { resourceTemplates } = await assistant.client.listResourceTemplates();
      const templates = resourceTemplates.map((template) => template.uriTemplate);
      assert.deepEqual(templates, [
        'cobalt://runs/{runId}',
        'cobalt://runs/{runId}/items/{key}',
        'cobalt://schemas/{tool}',
      ]);
      assert.match(JSON.stringify(await read('cobalt://runs/latest')), new RegExp(run.id));
      const item = JSON.stringify(await read(`cobalt://runs/${run.id}/items/italy`));
      assert.match(item, /Milan/);
      assert.match(item, /Rome was expected/);
      const schema = await read('cobalt://schemas/cobalt_results');
      assert.ok(schema.properties, JSON.stringify(schema));
    });

    it('an unknown resource is a protocol error', async () => {
      for (const uri of ['cobalt://nothing', 'cobalt://runs/ffffffffffff', 'file:///etc/passwd']) {
        await assert.rejects(assistant.client.readResource({ uri }), undefined, uri);
      }
    });

    it('prompts contain the failed items and the source locations', async () => {
      const { prompts } = await assistant.client.listPrompts();
      const names = prompts.map((prompt) => prompt.name).sort();
      assert.deepEqual(names, ['generate-tests', 'improve-agent', 'regression-check']);
      for (const prompt of prompts) assert.ok(prompt.description && prompt.arguments.length > 0, prompt.name);

      const text = async (name, args) => {
        const { messages } = await assistant.client.getPrompt({ name, arguments: args });
        return messages.map((message) => message.content.text).join('\n');
      };
      const improve = await text('improve-agent', { experiment: 'capitals', threshold: '0.9' });
      for (const part of ['italy', 'Rome was expected', 'tests/capitals.rs', '0.9']) {
        assert.ok(improve.includes(part), `${part} is missing in: ${improve}`);
      }
      assert.match(await text('generate-tests', { agentFile: 'src/lib.rs' }), /capital/);
      assert.match(await text('regression-check', {}), /capitals/);
      await assert.rejects(text('improve-agents', {}), /improve-agent/);
      await assert.rejects(text('generate-tests', {}), /agentFile/);
    });

    it('experiment names, run IDs and item keys are completed', async () => {
      const values = async (ref, name, value, given) => {
        const context = given && { arguments: given };
        const { completion } = await assistant.client.complete({
          ref,
          argument: { name, value },
          ...(context && { context }),
        });
        return completion.values;
      };
      const prompt = { type: 'ref/prompt', name: 'improve-agent' };
      assert.deepEqual(await values(prompt, 'experiment', 'cap'), ['capitals']);
      assert.deepEqual(await values(prompt, 'experiment', 'x'), []);
      const template = { type: 'ref/resource', uri: 'cobalt://runs/{runId}' };
      assert.deepEqual(await values(template, 'runId', run.id.slice(0, 4)), [run.id]);
      const item = { type: 'ref/resource', uri: 'cobalt://runs/{runId}/items/{key}' };
      assert.deepEqual(await values(item, 'key', 'i', { runId: run.id }), ['italy']);
    });

    it('subscribers are notified of a new run', async () => {
      const uri = 'cobalt://latest-results';
      const isTold = (message) =>
        message.method === 'notifications/resources/updated' && message.params?.uri === uri;
      const told = () => assistant.server.heard.filter(isTold).length;
      const toldMoreThan = async (known) => {
        const end = Date.now() + 10_000;
        while (told() <= known) {
          assert.ok(Date.now() < end, 'no notification');
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      const { client } = assistant;
      if (client.getProtocolEra?.() === 'modern') {
        await client.listen({ resourceSubscriptions: [uri] });
        // The first notification is sent when the watch starts.
        await toldMoreThan(0);
      } else {
        await client.subscribeResource({ uri });
      }
      const known = told();
      await assistant.call('cobalt_run', { experiments: ['capitals'] });
      await toldMoreThan(known);
    });
  });
}
