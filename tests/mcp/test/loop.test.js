// The full loop: generate tests for an agent, find a fault, fix it based on the results alone, and show the improvement.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Assistant, CLIENTS } from '../src/clients.js';
import { startModel } from '../src/model.js';
import { Project } from '../src/project.js';
import { experiment } from '../src/written.js';

for (const [name, client] of CLIENTS) {
  describe(`the loop by ${name}`, () => {
    let project;
    let model;
    before(async () => {
      project = new Project('clients-loop', 'triage');
      model = await startModel(experiment);
    });
    after(() => model.stop());

    it('an agent without tests is tested, fixed and shown to be better', async () => {
      await Assistant.with(client(), { folder: project.root, env: model.env }, async (assistant) => {
        const { before, after } = await improve(assistant, project, 'src/triage.rs');

        assert.deepEqual(model.faults, []);
        assert.equal(model.questions.length, 2);
        assert.match(model.questions[0], /pub fn triage/, 'the model reads the source');
        assert.match(model.questions[1], /mismatched types/, 'the model gets the compiler errors');
        assert.match(project.read('Cargo.toml'), /\[\[test\]\]/);

        const compared = await assistant.call('cobalt_compare', { runA: before.id, runB: after.id });
        assert.equal(compared.finding, 'better', compared.conclusion);
        assert.deepEqual([compared.improvedCount, compared.regressedCount], [7, 0]);
        const [queue] = compared.evaluators;
        assert.deepEqual([queue.name, queue.verdict], ['right_queue', 'better']);
        const latest = await assistant.call('cobalt_compare', { runA: 'latest~1', runB: 'latest' });
        assert.equal(latest.finding, compared.finding);
      });
    });
  });
}

/** The steps of an assistant asked to test an agent and fix it. It only knows the agent's file, from its user. */
async function improve(assistant, project, agentFile) {
  const { testFile, experiments, attempts } = await assistant.call('cobalt_generate', {
    agentFile,
    datasetSize: 12,
    context: 'It sends messages to the queues billing, accounts, shipping and general.',
  });
  assert.equal(attempts.length, 2);
  assert.match(attempts[0].errors.join('\n'), /mismatched types/);
  assert.deepEqual(attempts[1].errors, []);

  const first = await assistant.call('cobalt_run', { file: testFile });
  const [before] = first.runs;
  assert.equal(before.passed, false);
  assert.deepEqual([before.name], experiments);
  assert.equal(before.declaredAt.file, testFile);

  const { run } = await assistant.call('cobalt_results', { runId: before.id, status: 'failed' });
  assert.equal(run.itemsMatching, 7);
  const prompt = await assistant.client.getPrompt({
    name: 'improve-agent',
    arguments: { experiment: before.name },
  });
  const text = prompt.messages.map((message) => message.content.text).join('\n');
  for (const item of run.items) assert.ok(text.includes(item.key), `the prompt does not name ${item.key}`);
  assert.ok(text.includes(agentFile), `the prompt does not name ${agentFile}`);
  mend(project, agentFile, run.items);

  const second = await assistant.call('cobalt_run', { file: testFile });
  const [after] = second.runs;
  assert.equal(second.passed, true);
  assert.equal(after.previousRunId, before.id);
  return { before, after };
}

/** Replaces the wrong output of each failed item in the source with the word in the item's reason. */
function mend(project, file, items) {
  const source = project.read(file);
  const mended = items.reduce((text, item) => {
    const [, expected] = /the queue is (\w+)/.exec(item.evaluations.right_queue.reason);
    return text.replaceAll(`"${item.output.output}"`, `"${expected}"`);
  }, source);
  assert.notEqual(mended, source, 'the failed items match nothing in the source');
  project.write(file, mended);
}
