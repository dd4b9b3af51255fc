import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { firstLine } from '../support/first-line.ts';
import type { ServiceOrder } from './checker.ts';

const program = fileURLToPath(new URL('../../bin/errand.js', import.meta.url));

export interface Service {
  readonly baseUrl: string;
  readonly shopUrl: string;
  mint(): Promise<string>;
  /** Waits until every batch row of a key has become an order or failed. */
  untilPlaced(key: string): Promise<void>;
  /** Orders paid by challenge, one per accepted payment; no key lists them. */
  paidOrders(): Promise<ServiceOrder[]>;
  stop(): Promise<void>;
}

/** Starts the served sandbox as a separate process with its own file. @param more flags for `sandbox serve`. */
export const startService = (...more: readonly string[]): Promise<Service> => startAtSpeed(100, ...more);

/** As `startService`. @param speed speed-up factor for the life of an order. */
export async function startAtSpeed(speed: number, ...more: readonly string[]): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-service-'));
  const args = [
    'sandbox',
    'serve',
    '--port',
    '0',
    '--data',
    join(folder, 'sandbox.db'),
    '--speed',
    String(speed),
    '--mint-limit',
    '100000',
    '-o',
    'json',
    ...more,
  ];
  const env = {
    ...process.env,
    ERRAND_CONFIG_DIR: join(folder, 'config'),
    ERRAND_STATE_DIR: join(folder, 'state'),
  };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await firstLine(child, 'the sandbox ended');
  const { base_url: baseUrl, shop_url: shopUrl } = JSON.parse(line) as { base_url: string; shop_url: string };
  return {
    baseUrl,
    shopUrl,
    async mint() {
      const response = await fetch(`${baseUrl}/sandbox/keys`, { method: 'POST' });
      return ((await response.json()) as { api_key: string }).api_key;
    },
    async untilPlaced(key) {
      for (;;) {
        const response = await fetch(`${baseUrl}/orders/bulk?limit=200`, {
          headers: { authorization: `Bearer ${key}` },
        });
        const { batches } = (await response.json()) as { batches: { status: string }[] };
        if (!batches.some(({ status }) => status === 'pending' || status === 'processing')) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    async paidOrders() {
      const Database = loadSqlite();
      const database = new Database(join(folder, 'sandbox.db'), { readOnly: true });
      try {
        const rows = database
          .prepare('SELECT o.record FROM payments p JOIN orders o ON o.id = p.order_id')
          .all() as { record: string }[];
        return rows.map(({ record }) => JSON.parse(record));
      } finally {
        database.close();
      }
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.removeAllListeners('exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
