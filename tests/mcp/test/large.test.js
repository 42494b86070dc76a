// Results for a run of 10,000 items stay small, and pages reach all items.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Assistant, CLIENTS, modern, structured } from '../src/clients.js';
import { Project } from '../src/project.js';
import { writeRun } from '../src/store.js';

const ITEMS = 10_000;
/** The maximum size of a response, which is at most 25,000 tokens. */
const MOST_BYTES = 60_000;

describe('large runs', () => {
  let project;
  let ids;
  before(() => {
    project = new Project('clients-large');
    ids = [1, 2].map((number) => writeRun(project, number, ITEMS));
  });

  // Before version 2025-06-18, the structured content is a text.
  for (const [name, client] of [...CLIENTS, ['a client of 2025-03-26', () => modern('2025-03-26')]]) {
    describe(`by ${name}`, () => {
      let assistant;
      before(async () => {
        assistant = await Assistant.connect(client(), { folder: project.root });
      });
      after(() => assistant?.close());

      /** Checks the size of all messages since the last check. */
      function small(test, what) {
        const sizes = assistant.server.heard.splice(0).map((said) => Buffer.byteLength(JSON.stringify(said)));
        const largest = Math.max(...sizes);
        test.diagnostic(`${what}: ${largest} bytes`);
        assert.ok(largest < MOST_BYTES, `${what}: ${largest} bytes`);
      }

      it('the list of tools is small', (test) => small(test, 'tools/list'));

      it('pages of a run are small', async (test) => {
        const keys = await pages(assistant, ids[0], ITEMS, 3);
        small(test, 'cobalt_results of a run');
        assert.ok(keys.length > 30, `${keys.length} items on three pages`);
      });

      it('a list of runs and a comparison are small', async (test) => {
        await assistant.result('cobalt_results');
        small(test, 'cobalt_results');
        const compared = await assistant.result('cobalt_compare', { runA: ids[0], runB: ids[1] });
        small(test, 'cobalt_compare');
        assert.equal(structured(compared).improvedCount, ITEMS / 10);
      });

      it('resources and prompts are small', async (test) => {
        for (const uri of ['cobalt://latest-results', `cobalt://runs/${ids[0]}`]) {
          await assistant.client.readResource({ uri });
          small(test, uri);
        }
        for (const name of ['improve-agent', 'regression-check']) {
          await assistant.client.getPrompt({ name, arguments: { experiment: 'large' } });
          small(test, name);
        }
      });
    });
  }

  it('pages reach every item', async () => {
    const [[, client]] = CLIENTS;
    const several = new Project('clients-pages');
    const id = writeRun(several, 1, 1000, 1);
    await Assistant.with(client(), { folder: several.root }, async (assistant) => {
      assert.equal((await pages(assistant, id, 1000, 1000)).length, 1000);
    });
  });
});

/** Reads at most `most` pages of a run, worst items first. Returns the keys of their items, without duplicates. */
async function pages(assistant, runId, items, most) {
  const keys = [];
  let cursor;
  for (let page = 0; page < most; page += 1) {
    const { run } = structured(
      await assistant.result('cobalt_results', { runId, ...(cursor && { cursor }) }),
    );
    assert.equal(run.itemsMatching, items);
    if (page === 0) assert.equal(run.items[0].passed, false, 'the worst come first');
    keys.push(...run.items.map((item) => item.key));
    cursor = run.nextCursor;
    if (!cursor) break;
  }
  assert.equal(new Set(keys).size, keys.length, 'duplicate item');
  return keys;
}
