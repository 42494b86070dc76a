// `cobalt_list`, and the list of tools.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { Assistant, CLIENTS } from '../src/clients.js';
import { Project } from '../src/project.js';

for (const [name, client] of CLIENTS) {
  describe(`tools by ${name}`, () => {
    let project;
    let assistant;
    before(async () => {
      project = new Project('clients-list');
      assistant = await Assistant.connect(client(), { folder: project.root });
    });
    after(() => assistant?.close());

    it('each tool has a title, a description, schemas that name each argument, and annotations', () => {
      for (const [name, tool] of assistant.tools) {
        assert.ok(tool.title && tool.description && tool.annotations, name);
        assert.equal(tool.outputSchema.type, 'object', name);
        assert.equal(tool.inputSchema.additionalProperties, false, name);
        for (const [argument, schema] of Object.entries(tool.inputSchema.properties)) {
          assert.ok(schema.description, `${name} has an argument \`${argument}\` without a description`);
        }
      }
    });

    it('clients support everything in the schemas', (test) => {
      const warn = test.mock.method(console, 'warn', () => {});
      for (const { inputSchema, outputSchema } of assistant.tools.values()) {
        for (const schema of [inputSchema, outputSchema]) new AjvJsonSchemaValidator().getValidator(schema);
      }
      assert.deepEqual(
        warn.mock.calls.map((call) => call.arguments),
        [],
      );
    });

    it('experiments are listed with their locations', async () => {
      const { experiments, project: of } = await assistant.call('cobalt_list');
      assert.deepEqual(of, { name: 'clients-list', root: project.root });
      assert.deepEqual(experiments.map(({ experiment }) => experiment.name).sort(), ['capitals', 'slow']);
      const { experiment } = experiments.find((row) => row.experiment.name === 'capitals');
      assert.equal(experiment.file, 'tests/capitals.rs');
      assert.equal(experiment.items, 3);
    });

    it('an unknown tool is a protocol error', async () => {
      await assert.rejects(assistant.client.callTool({ name: 'cobalt_lists', arguments: {} }), /cobalt_list/);
    });

    it('invalid arguments are reported by name', async () => {
      const wrongType = await assistant.fails('cobalt_list', { filter: 7 });
      assert.match(wrongType.text, /filter/);
      const unknown = await assistant.fails('cobalt_list', { filtre: 'x' });
      assert.match(unknown.text, /filtre/);
    });
  });
}
