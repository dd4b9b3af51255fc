import type { Stream } from 'node:stream';
import { Client, type ClientCapabilities } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { test } from 'vitest';
import { isWhole } from '../../support/whole.ts';

/** Both published major versions of the official client, with the protocol versions each speaks. */
export const clients = [
  'sdk 1, protocol 2025-11-25',
  'client 2, protocol 2025-11-25',
  'client 2, protocol 2026-07-28',
] as const;
export type ClientLine = (typeof clients)[number];

/** The tests of a `describe.each(clients)`: each has one client, in turn, or all of them (`npm run proofs -- clients`). */
export function inTurn(line: ClientLine): (name: string, run: () => Promise<void>) => void {
  let turn = clients.indexOf(line);
  return (name, run) => {
    if (isWhole || turn % clients.length === 0) test(name, run);
    turn += 1;
  };
}

interface Server {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

export interface Options {
  readonly server: Server;
  readonly name: string;
  /** Returns the user's reply; if undefined, the client cannot ask. */
  readonly asks: ((message: string) => Promise<Elicited>) | undefined;
  onError(error: Error): void;
}

export interface Elicited {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, boolean>;
}

type Listed = Awaited<ReturnType<Client['listTools']>>;
type Result = Pick<Awaited<ReturnType<Client['callTool']>>, 'content' | 'structuredContent' | 'isError'>;

/** Common interface to both client versions. */
export interface Connected {
  listTools(): Promise<Listed>;
  callTool(
    name: string,
    given: Record<string, unknown>,
    options: { timeout: number; signal?: AbortSignal },
  ): Promise<Result>;
  close(): Promise<void>;
  readonly pid: number;
  readonly stderr: Stream | null;
}

const capabilitiesOf = ({ asks }: Options): ClientCapabilities => (asks ? { elicitation: { form: {} } } : {});

export const connected = (line: ClientLine, options: Options): Promise<Connected> =>
  line.startsWith('sdk 1') ? first(options) : second(options, line.endsWith('2026-07-28'));

async function first(options: Options): Promise<Connected> {
  const { server, name, asks, onError } = options;
  const client = new FirstClient({ name, version: '1.0' }, { capabilities: capabilitiesOf(options) });
  const transport = new FirstTransport({ ...server, stderr: 'pipe' });
  client.onerror = onError;
  if (asks)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      ...(await asks(params.message)),
    }));
  await client.connect(transport);
  return {
    // The versions' types differ only where these tests do not look; the messages are the same.
    listTools: async () => (await client.listTools()) as Listed,
    callTool: async (tool, given, how) =>
      (await client.callTool({ name: tool, arguments: given }, undefined, how)) as Result,
    close: () => client.close(),
    pid: transport.pid ?? 0,
    stderr: transport.stderr,
  };
}

async function second(options: Options, isNewest: boolean): Promise<Connected> {
  const { server, name, asks, onError } = options;
  const client = new Client(
    { name, version: '1.0' },
    {
      capabilities: capabilitiesOf(options),
      versionNegotiation: { mode: isNewest ? { pin: '2026-07-28' } : 'legacy' },
    },
  );
  const transport = new StdioClientTransport({ ...server, stderr: 'pipe' });
  client.onerror = onError;
  if (asks)
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      ...(await asks(params.message)),
    }));
  await client.connect(transport);
  return {
    listTools: () => client.listTools(),
    callTool: (tool, given, how) => client.callTool({ name: tool, arguments: given }, how),
    close: () => client.close(),
    pid: transport.pid ?? 0,
    stderr: transport.stderr,
  };
}
