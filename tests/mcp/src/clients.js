// The official clients: the first generation, which begins with `initialize`, and the second, which need not.
import assert from 'node:assert/strict';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { Server } from './transport.js';

/** How long an answer may take, in milliseconds: packages are built meanwhile. */
export const PATIENCE = 240_000;
const NAME = { name: 'tests', version: '1' };

/** The versions of the protocol that begin with `initialize`, oldest first. */
export const WITH_INITIALIZE = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export const NEWEST = '2026-07-28';

/** What most tests are repeated with: the name for the test, and the client. */
export const CLIENTS = [
  ['the first client', (options) => new LegacyClient(NAME, options)],
  ['the second client', (options) => modern(NEWEST, options)],
];

/** The second client, speaking one version alone. */
export function modern(version, options = {}) {
  const negotiation =
    version === NEWEST
      ? { versionNegotiation: { mode: { pin: version } } }
      : { supportedProtocolVersions: [version] };
  return new ModernClient(NAME, { ...negotiation, ...options });
}

/** The structured part of an answer, which is a text before version 2025-06-18 of the protocol. */
export function structured(result) {
  return result.structuredContent ?? JSON.parse(result.content.at(-1).text);
}

/** A client that speaks with a server. */
export class Assistant {
  /**
   * Starts a server in a folder, and lets a client speak with it. `prepare` may tell the client what to answer before it says
   * hello.
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
      throw new Error(`no conversation: ${error.message}\n${assistant.server.stderr}`, { cause: error });
    }
    return assistant;
  }

  /** Holds a conversation, and sees that the server ends, whatever becomes of it. */
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

  /** What a tool answers, whether or not all went well. The client holds it against the tool's schema unless it failed. */
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

  /** The structured answer of a tool that did what was asked. */
  async call(name, args, options) {
    const result = await this.result(name, args, options);
    assert.notEqual(result.isError, true, JSON.stringify(result.content));
    return result.structuredContent;
  }

  /** The answer of a tool that could not do what was asked: its structured part, and its text. */
  async fails(name, args, options) {
    const result = await this.result(name, args, options);
    assert.equal(result.isError, true, JSON.stringify(result.structuredContent ?? result.content));
    const text = result.content.map((block) => block.text).join('\n');
    return { structured: result.structuredContent, text };
  }

  /** Failures have the shape that the tool promises, too, which clients do not look at. */
  #fits(name, { structuredContent, content }) {
    assert.ok(
      content.some((block) => block.type === 'text' && block.text.trim() !== ''),
      `${name} says nothing to who reads`,
    );
    if (structuredContent === undefined) return;
    const { outputSchema } = this.tools.get(name);
    const { valid, errorMessage } = new AjvJsonSchemaValidator().getValidator(outputSchema)(
      structuredContent,
    );
    assert.ok(valid, `${name}: ${errorMessage}`);
  }

  /** Hangs up, and holds that the server said nothing but messages and ended well. */
  async close() {
    await this.client.close();
    await this.server.close();
    assert.deepEqual(this.server.strayLines, [], 'stdout has what is no message');
    assert.equal(await this.server.ended, 0, this.server.stderr);
  }
}
