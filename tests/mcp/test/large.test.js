// Answers about a run of 10,000 items stay small, and pages lead to all of them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Assistant, CLIENTS, modern } from '../src/clients.js';
import { Project } from '../src/project.js';
import { writeRun } from '../src/store.js';

const ITEMS = 10_000;
/** 25,000 tokens, of which each takes three bytes at the least in texts such as these. */
const MOST_BYTES = 75_000;

for (const [name, client] of [...CLIENTS, ['a client of 2025-03-26', () => modern('2025-03-26')]]) {
  describe(`large runs by ${name}`, () => {
    let project;
    let assistant;
    let ids;
    before(async () => {
      project = new Project('clients-large');
      ids = [1, 2].map((number) => writeRun(project, number, ITEMS));
      assistant = await Assistant.connect(client(), { folder: project.root });
    });
    after(async () => {
      await assistant?.close();
      project.remove();
    });

    /** The bytes of the last answer, as it came. */
    const size = () => Buffer.byteLength(JSON.stringify(assistant.server.heard.at(-1)));
    const structured = (result) => result.structuredContent ?? JSON.parse(result.content.at(-1).text);

    /** Reads so many pages of a run at the most, and looks at each; the keys of their items. */
    async function read(runId, most) {
      const keys = [];
      let cursor;
      for (let page = 0; page < most; page += 1) {
        const result = await assistant.result('cobalt_results', { runId, ...(cursor && { cursor }) });
        const { run } = structured(result);
        assert.ok(size() < MOST_BYTES, `page ${page} has ${size()} bytes`);
        assert.equal(run.itemsMatching, ITEMS);
        if (page === 0) assert.equal(run.items[0].passed, false, 'the worst come first');
        keys.push(...run.items.map((item) => item.key));
        cursor = run.nextCursor;
        if (!cursor) break;
      }
      assert.equal(new Set(keys).size, keys.length, 'an item comes twice');
      return keys;
    }

    it('pages are small', async () => {
      assert.ok((await read(ids[0], 3)).length > 30);
    });

    if (name === CLIENTS[0][0]) {
      it('pages lead to each item', async () => {
        const short = writeRun(project, 3, ITEMS, 0);
        assert.equal((await read(short, ITEMS)).length, ITEMS);
      });
    }

    it('a list of runs and a comparison are small', async () => {
      await assistant.result('cobalt_results');
      assert.ok(size() < MOST_BYTES);
      const compared = structured(await assistant.result('cobalt_compare', { runA: ids[0], runB: ids[1] }));
      assert.equal(compared.improvedCount, ITEMS / 10);
      assert.ok(size() < MOST_BYTES, `the comparison has ${size()} bytes`);
    });

    it('resources and prompts are small', async () => {
      for (const uri of ['cobalt://latest-results', `cobalt://runs/${ids[0]}`]) {
        await assistant.client.readResource({ uri });
        assert.ok(size() < MOST_BYTES, `${uri} has ${size()} bytes`);
      }
      for (const name of ['improve-agent', 'regression-check']) {
        await assistant.client.getPrompt({ name, arguments: { experiment: 'large' } });
        assert.ok(size() < MOST_BYTES, `${name} has ${size()} bytes`);
      }
    });
  });
}
