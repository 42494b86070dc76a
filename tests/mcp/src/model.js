// A scripted model on localhost with OpenAI's API.
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Starts a model. `script` is called with each question and the number of earlier questions, and returns the answer. */
export async function startModel(script) {
  const questions = [];
  const faults = [];
  const server = createServer(async (request, response) => {
    try {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const question = body.messages.map((message) => message.content).join('\n');
      const content = JSON.stringify(script(question, questions.length));
      questions.push(question);
      const message = { role: 'assistant', content };
      const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    } catch (error) {
      faults.push(error);
      response.writeHead(400).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    questions,
    faults,
    /** The environment variables that point a program to it. */
    env: { OPENAI_API_KEY: 'sk-scripted', OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1` },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
