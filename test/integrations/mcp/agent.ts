import { expect, onTestFinished } from 'vitest';
import { hangsAfterMs } from '../../support/limits.ts';
import type { Workspace } from '../../support/workspace.ts';
import { type ClientLine, type Connected, connected } from './client-lines.ts';

/** The user's reply when asked; `error` means the client fails to ask. */
export type Says = 'yes' | 'no' | 'cancel' | 'unticked' | 'error';

interface Options {
  readonly line?: ClientLine;
  readonly args?: readonly string[];
  readonly name?: string;
  /** Without it the client cannot ask its user. */
  readonly says?: Says;
  readonly environment?: Readonly<Record<string, string>>;
}

// Tests access arbitrary JSON.
type Json = ReturnType<typeof JSON.parse>;

export interface Told {
  readonly isError: boolean;
  /** What the model reads: the structured content, or the JSON of an error's text. */
  readonly json: Json;
  readonly text: string;
}

/** The official client connected to the program over stdio. Like every agent, it lists the tools first. */
export class Agent {
  #client: Connected | undefined;
  /** The questions put to the user. */
  readonly asked: string[] = [];
  /** Errors for stdout lines that are not protocol messages. */
  readonly strays: Error[] = [];
  stderr = '';

  static async start(workspace: Workspace, options: Options = {}): Promise<Agent> {
    const { line = 'client 2, protocol 2026-07-28', args = [], name = 'test-agent', says } = options;
    const agent = new Agent();
    const client = await connected(line, {
      server: {
        command: 'errand',
        args: ['mcp', ...args],
        env: { ...workspace.environment, ...options.environment },
        cwd: workspace.folder,
      },
      name,
      asks: says && ((message) => agent.#answer(message, says)),
      onError: (error) => agent.strays.push(error),
    });
    agent.#client = client;
    client.stderr?.on('data', (piece: Buffer) => {
      agent.stderr += piece.toString();
    });
    onTestFinished(() => agent.close());
    await client.listTools();
    return agent;
  }

  get client(): Connected {
    return this.#client ?? expect.fail('the client is not connected');
  }

  get pid(): number {
    return this.client.pid;
  }

  /** Calls a tool. The client itself validates the result against the tool's output schema. */
  async call(
    name: string,
    given: Readonly<Record<string, unknown>> = {},
    signal?: AbortSignal,
  ): Promise<Told> {
    const options = { timeout: hangsAfterMs, ...(signal && { signal }) };
    const {
      content,
      structuredContent,
      isError = false,
    } = await this.client.callTool(name, { ...given }, options);
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    // For an error the model gets only text, with the JSON between the two lines that mark untrusted data.
    if (isError) expect(structuredContent).toBeUndefined();

    const json = isError
      ? JSON.parse(text.split('\n').find((line) => line.startsWith('{')) ?? '')
      : structuredContent;
    return { isError, json: json ?? {}, text };
  }

  /** Calls a tool that must succeed. @returns the structured content. */
  async get(name: string, given: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    const { isError, json, text } = await this.call(name, given);
    expect(isError, text).toBe(false);
    return json;
  }

  /** Calls a tool that must fail. @returns the error. */
  async refused(name: string, given: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    const { isError, json, text } = await this.call(name, given);
    expect(isError, text).toBe(true);
    return json.error;
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  async #answer(message: string, says: Says) {
    this.asked.push(message);
    if (says === 'error') throw new Error('there is no window to ask in');
    if (says === 'cancel') return { action: 'cancel' } as const;
    if (says === 'no') return { action: 'decline' } as const;
    return { action: 'accept', content: { yes: says === 'yes' } } as const;
  }
}
