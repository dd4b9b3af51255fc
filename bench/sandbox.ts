import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { triggerPath } from '../src/api/control.ts';
import { copyOrders } from '../test/support/copy-orders.ts';
import { firstLine } from '../test/support/first-line.ts';
import { program } from './program.ts';

/** A sandbox served by a separate process, with an API key. */
export interface BenchSandbox {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Environment for a client, with its own config and state directories. */
  readonly env: Readonly<Record<string, string>>;
  /** A valid order body. */
  readonly order: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts `errand sandbox serve`. @param folder for its data and for its client's. */
export async function startSandbox(folder: string, ...more: readonly string[]): Promise<BenchSandbox> {
  const file = join(folder, 'served.db');
  const folders = { ERRAND_STATE_DIR: join(folder, 'state'), ERRAND_CONFIG_DIR: join(folder, 'config') };
  const args = ['sandbox', 'serve', '--port', '0', '--data', file, '-o', 'json', ...more];
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...folders },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const line = await firstLine(child, 'sandbox serve ended');
  const { base_url: baseUrl } = JSON.parse(line) as { base_url: string };
  const minted = await fetch(`${baseUrl}/sandbox/keys`, { method: 'POST' });
  const { api_key: key, example_order: order } = (await minted.json()) as {
    api_key: string;
    example_order: Record<string, unknown>;
  };
  return {
    baseUrl,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json',
    },
    env: { ...folders, ERRAND_API_KEY: key, ERRAND_BASE_URL: baseUrl },
    order,
    file,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Funds the wallet beyond what any benchmark spends. */
export async function fillWallet({ baseUrl, headers }: BenchSandbox): Promise<void> {
  const body = JSON.stringify({ event: 'wallet-funded', amount: 1_000_000_000 });
  const response = await fetch(`${baseUrl}${triggerPath}`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`the wallet could not be filled: ${await response.text()}`);
}

/** One order over HTTP. @returns its id. */
export async function createOrder({ baseUrl, headers, order }: BenchSandbox): Promise<string> {
  const response = await fetch(`${baseUrl}/orders`, { method: 'POST', headers, body: JSON.stringify(order) });
  const { id } = (await response.json()) as { id: string };
  return id;
}

/**
 * Fills the sandbox up to `count` orders by copying one. @param live whether the copies keep progressing. @returns
 * their ids.
 */
export async function fillWithOrders(
  sandbox: BenchSandbox,
  count: number,
  options: { readonly live?: boolean } = {},
): Promise<string[]> {
  await createOrder(sandbox);
  return copyOrders(sandbox.file, count, options);
}
