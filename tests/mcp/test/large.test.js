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
      await assistant.close();
      project.remove();
    });

    /** The bytes of the last answer, as it came. */
    const size = () => Buffer.byteLength(JSON.stringify(assistant.server.heard.at(-1)));
    const structured = (result) => result.structuredContent ?? JSON.parse(result.content.at(-1).text);

    it('all pages are small, and have each item once', { timeout: 240_000 }, async () => {
      const seen = new Set();
      let largest = 0;
      let cursor;
      let pages = 0;
      do {
        const result = await assistant.result('cobalt_results', { runId: ids[0], ...(cursor && { cursor }) });
        const { run } = structured(result);
        assert.equal(run.itemsMatching, ITEMS);
        if (pages === 0) assert.equal(run.items[0].passed, false, 'the worst come first');
        for (const item of run.items) {
          assert.ok(!seen.has(item.key), `${item.key} comes twice`);
          seen.add(item.key);
        }
        largest = Math.max(largest, size());
        cursor = run.nextCursor;
        pages += 1;
        // All pages of one client are enough.
      } while (cursor && (name === CLIENTS[0][0] || pages < 3));
      assert.ok(largest < MOST_BYTES, `an answer has ${largest} bytes`);
      if (!cursor) assert.equal(seen.size, ITEMS);
    });

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
