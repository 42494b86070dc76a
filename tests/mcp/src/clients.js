// The official clients: the first generation, which starts with `initialize`, and the second, which need not.
import assert from 'node:assert/strict';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { Server } from './transport.js';

/** The timeout for a response, in milliseconds: calls may build packages. */
export const PATIENCE = 240_000;
const NAME = { name: 'tests', version: '1' };

/** The protocol versions that start with `initialize`, oldest first. */
export const WITH_INITIALIZE = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export const NEWEST = '2026-07-28';

/** The clients that most tests run with: a name for the test, and the client. */
export const CLIENTS = [
  ['the first client', (options) => new LegacyClient(NAME, options)],
  ['the second client', (options) => modern(NEWEST, options)],
];

/** The second client, restricted to one version. */
export function modern(version, options = {}) {
  const negotiation =
    version === NEWEST
      ? { versionNegotiation: { mode: { pin: version } } }
      : { supportedProtocolVersions: [version] };
  return new ModernClient(NAME, { ...negotiation, ...options });
}

/** The structured content of a result, which is a text before protocol version 2025-06-18. */
export function structured(result) {
  return result.structuredContent ?? JSON.parse(result.content.at(-1).text);
}

/** A client connected to a server. */
export class Assistant {
  /**
   * Starts a server in a folder, and connects a client. `prepare` may set up the client's request handlers first.
   */
  static async connect(client, { folder, args, env, prepare }) {
    const assistant = new Assistant();
    assistant.server = new Server({ folder, args, env });
    assistant.client = client;
    prepare?.(client);
    try {
      await client.connect(assistant.server, { timeout: 30_000 });
      const { tools } = await client.listTools();
      assistant.tools = new Map(tools.map((tool) => [tool.name, tool]));
    } catch (error) {
      await assistant.server.close();
      throw new Error(`failed to connect: ${error.message}\n${assistant.server.stderr}`, { cause: error });
    }
    return assistant;
  }

  /** Runs `converse` with a connected assistant, and stops the server in any case. */
  static async with(client, options, converse) {
    const assistant = await Assistant.connect(client, options);
    try {
      await converse(assistant);
    } catch (error) {
      await assistant.server.close();
      throw error;
    }
    await assistant.close();
  }

  /** The result of a tool, even if it failed. The client validates a successful one against the tool's schema. */
  async result(name, args = {}, options = {}) {
    const request = { name, arguments: args };
    const waiting = { timeout: PATIENCE, ...options };
    // The first client takes a schema before the options.
    const result =
      this.client instanceof LegacyClient
        ? await this.client.callTool(request, undefined, waiting)
        : await this.client.callTool(request, waiting);
    this.#fits(name, result);
    return result;
  }

  /** The structured content of a successful call. */
  async call(name, args, options) {
    const result = await this.result(name, args, options);
    assert.notEqual(result.isError, true, JSON.stringify(result.content));
    return result.structuredContent;
  }

  /** The result of a failed call: its structured content, and its text. */
  async fails(name, args, options) {
    const result = await this.result(name, args, options);
    assert.equal(result.isError, true, JSON.stringify(result.structuredContent ?? result.content));
    const text = result.content.map((block) => block.text).join('\n');
    return { structured: result.structuredContent, text };
  }

  /** Failures match the tool's schema, too, which clients do not validate. */
  #fits(name, { structuredContent, content }) {
    assert.ok(
      content.some((block) => block.type === 'text' && block.text.trim() !== ''),
      `${name} returns no text`,
    );
    if (structuredContent === undefined) return;
    const { outputSchema } = this.tools.get(name);
    const { valid, errorMessage } = new AjvJsonSchemaValidator().getValidator(outputSchema)(
      structuredContent,
    );
    assert.ok(valid, `${name}: ${errorMessage}`);
  }

  /** Disconnects, and checks that the server wrote only messages to stdout and exited successfully. */
  async close() {
    await this.client.close();
    await this.server.close();
    assert.deepEqual(this.server.strayLines, [], 'stdout has lines that are not messages');
    assert.equal(await this.server.ended, 0, this.server.stderr);
  }
}
