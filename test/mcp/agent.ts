import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished } from 'vitest';
import type { Workspace } from '../program/workspace.ts';

/** The two protocol versions that are spoken. */
export const versions = ['2025-11-25', '2026-07-28'] as const;
export type Version = (typeof versions)[number];

/** What the user of the client says when asked. */
export type Says = 'yes' | 'no' | 'cancel' | 'unticked';

interface Options {
  readonly version?: Version;
  readonly args?: readonly string[];
  readonly name?: string;
  /** Without it the client cannot ask its user. */
  readonly says?: Says;
  readonly environment?: Readonly<Record<string, string>>;
}

// A test reads whatever JSON came.
type Json = ReturnType<typeof JSON.parse>;

export interface Told {
  readonly isError: boolean;
  /** The structured content. */
  readonly json: Json;
  readonly text: string;
}

/** The official client with the program as its server, over stdio. */
export class Agent {
  readonly client: Client;
  readonly #transport: StdioClientTransport;
  /** What the user was asked. */
  readonly asked: string[] = [];
  /** What came on stdout and is no message. */
  readonly strays: Error[] = [];
  stderr = '';

  private constructor(client: Client, transport: StdioClientTransport) {
    this.client = client;
    this.#transport = transport;
  }

  static async start(workspace: Workspace, options: Options = {}): Promise<Agent> {
    const { version = '2026-07-28', args = [], name = 'test-agent', says, environment = {} } = options;
    const client = new Client(
      { name, version: '1.0' },
      {
        capabilities: says ? { elicitation: { form: {} } } : {},
        versionNegotiation: { mode: version === '2026-07-28' ? { pin: version } : 'legacy' },
      },
    );
    const transport = new StdioClientTransport({
      command: 'errand',
      args: ['mcp', ...args],
      env: { ...workspace.environment, ...environment },
      cwd: workspace.folder,
      stderr: 'pipe',
    });
    const agent = new Agent(client, transport);
    transport.stderr?.on('data', (piece: Buffer) => {
      agent.stderr += piece.toString();
    });
    client.onerror = (error) => agent.strays.push(error);
    if (says)
      client.setRequestHandler('elicitation/create', ({ params }) => {
        agent.asked.push(params.message);
        if (says === 'cancel') return { action: 'cancel' };
        if (says === 'no') return { action: 'decline' };
        return { action: 'accept', content: { yes: says === 'yes' } };
      });
    await client.connect(transport);
    onTestFinished(() => agent.close());
    return agent;
  }

  get pid(): number {
    return this.#transport.pid ?? 0;
  }

  /** Calls a tool. The client holds the answer to the tool's output schema by itself. */
  async call(
    name: string,
    given: Readonly<Record<string, unknown>> = {},
    signal?: AbortSignal,
  ): Promise<Told> {
    const result = await this.client.callTool(
      { name, arguments: { ...given } },
      { timeout: 50_000, ...(signal && { signal }) },
    );
    const [first] = result.content;
    return {
      isError: result.isError === true,
      json: result.structuredContent ?? {},
      text: first?.type === 'text' ? first.text : '',
    };
  }

  /** The same where it must succeed. @returns the structured content. */
  async get(name: string, given: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    const { isError, json, text } = await this.call(name, given);
    expect(isError, text).toBe(false);
    return json;
  }

  /** The same where it must be refused. @returns the error. */
  async refused(name: string, given: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    const { isError, json, text } = await this.call(name, given);
    expect(isError, text).toBe(true);
    return json.error;
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}
