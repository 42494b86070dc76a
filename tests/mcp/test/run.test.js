// `cobalt_run`: its result and progress, and how it handles edits, compiler errors and cancelled calls.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Assistant, CLIENTS } from '../src/clients.js';
import { Project } from '../src/project.js';

for (const [name, client] of CLIENTS) {
  describe(`runs by ${name}`, () => {
    let project;
    let assistant;
    before(async () => {
      project = new Project('clients-run');
      assistant = await Assistant.connect(client(), { folder: project.root });
    });
    after(() => assistant?.close());

    it('a run returns its items, and the next run builds an edit', async () => {
      const first = await assistant.call('cobalt_run', { experiments: ['capitals'] });
      assert.equal(first.passed, false);
      const [run] = first.runs;
      assert.deepEqual([run.name, run.declaredAt.file, run.passed], ['capitals', 'tests/capitals.rs', false]);
      assert.deepEqual([run.itemsMatching, run.itemsShown, run.summary.totalItems], [3, 3, 3]);
      const [worst] = run.items;
      assert.deepEqual([worst.key, worst.passed, worst.output.output], ['italy', false, 'Milan']);
      assert.match(worst.evaluations.right.reason, /Rome was expected/);

      project.edit('src/lib.rs', 'Milan', 'Rome');
      const second = await assistant.call('cobalt_run', { file: 'tests/capitals.rs', filter: 'geography' });
      assert.equal(second.passed, true);
      assert.notEqual(second.runs[0].id, run.id);
      assert.equal(second.runs[0].previousRunId, run.id);

      const listed = await assistant.call('cobalt_results', { experiment: 'capitals' });
      assert.deepEqual(
        listed.runs.map((listed) => listed.id),
        [second.runs[0].id, run.id],
      );
      const failing = await assistant.call('cobalt_results', { runId: run.id, status: 'failed' });
      assert.deepEqual(
        failing.run.items.map((item) => item.key),
        ['italy'],
      );
      const compared = await assistant.call('cobalt_compare', { runA: run.id, runB: second.runs[0].id });
      assert.deepEqual([compared.improvedCount, compared.regressedCount], [1, 0]);
      assert.equal(compared.improvedItems[0].key, 'italy');
    });

    it('progress grows with each item up to the total', async () => {
      const heard = [];
      const onprogress = (progress) => heard.push(progress);
      await assistant.call('cobalt_run', { experiments: ['capitals'], runs: 2 }, { onprogress });
      const done = heard.map(({ progress }) => progress);
      assert.deepEqual(
        done,
        [...new Set(done)].sort((one, two) => one - two),
        'progress only grows',
      );
      const last = heard.at(-1);
      assert.deepEqual([last.progress, last.total], [3, 3]);
    });

    it('a cancelled call keeps its finished items, and can be resumed', async () => {
      const cancel = new AbortController();
      const onprogress = ({ progress }) => {
        if (progress >= 2) cancel.abort();
      };
      const running = assistant.call(
        'cobalt_run',
        { experiments: ['slow'] },
        { signal: cancel.signal, onprogress },
      );
      await assert.rejects(running);
      const cutOff = await eventually(async () => {
        const { unfinished } = await assistant.call('cobalt_results', { experiment: 'slow' });
        return unfinished?.find((run) => run.state === 'cutOff');
      });
      const { run, state } = await assistant.call('cobalt_results', { runId: cutOff.id });
      assert.equal(state, 'cutOff');
      assert.deepEqual(run.items.map((item) => [item.key, item.passed]).sort(), [
        ['first', true],
        ['second', true],
      ]);

      project.write('go-on', '');
      const resumed = await assistant.call('cobalt_run', { resume: cutOff.id });
      assert.equal(resumed.passed, true);
      assert.equal(resumed.runs[0].summary.totalItems, 4);
    });

    it('compiler errors are reported with file and line', async () => {
      project.edit('src/lib.rs', '"Madrid"', 'Madrid');
      const { structured, text } = await assistant.fails('cobalt_run', { experiments: ['capitals'] });
      const [error] = structured.compileErrors;
      assert.deepEqual([error.file, error.line, error.code], ['src/lib.rs', 8, 'E0425']);
      assert.match(text, /src\/lib\.rs:8/);
      const listed = await assistant.fails('cobalt_list');
      assert.equal(listed.structured.compileErrors[0].file, 'src/lib.rs');
      project.edit('src/lib.rs', '=> Madrid', '=> "Madrid"');
    });

    it('invalid arguments are reported by name', async () => {
      for (const [tool, args, named] of [
        ['cobalt_run', { concurrency: 'many' }, /concurrency/],
        ['cobalt_run', { concurrency: 0 }, /concurrency/],
        ['cobalt_run', { experimnts: [] }, /experimnts/],
        ['cobalt_run', { project: 'another' }, /another/],
        ['cobalt_results', { limit: -1 }, /limit/],
        ['cobalt_results', { runId: '../../etc/passwd' }, /passwd/],
        ['cobalt_results', { runId: 'latest', cursor: 'x' }, /cursor/],
        ['cobalt_compare', { runA: 'latest' }, /runB/],
        ['cobalt_generate', {}, /agentFile/],
        ['cobalt_generate', { agentFile: 'src/lib.rs', datasetSize: 0 }, /datasetSize/],
      ]) {
        const { text } = await assistant.fails(tool, args);
        assert.match(text, named, `${tool} ${JSON.stringify(args)}`);
      }
    });

    it('an unknown experiment is reported', async () => {
      const { text } = await assistant.fails('cobalt_run', { experiments: ['capital'] });
      assert.match(text, /capital/);
    });
  });
}

/** Polls until there is a value: a cancelled run takes a moment to end. */
async function eventually(ask) {
  const end = Date.now() + 20_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error('timed out');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
