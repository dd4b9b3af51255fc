import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { Random } from '../../faults/random.ts';
import { caches } from '../../support/caches.ts';
import { firstLine } from '../../support/first-line.ts';
import { orderBody } from '../../support/order-body.ts';
import { isWhole } from '../../support/whole.ts';

const program = fileURLToPath(new URL('../../../bin/errand.js', import.meta.url));
/** `npm run proofs -- kills` has 50. */
const rounds = isWhole ? 50 : 12;
const clients = 6;

interface Running {
  readonly child: ChildProcess;
  readonly baseUrl: string;
  readonly shopUrl: string;
}

async function serve(folder: string): Promise<Running> {
  const args = [
    'sandbox',
    'serve',
    '--port',
    '0',
    '--data',
    join(folder, 'sandbox.db'),
    '--speed',
    '100',
    '-o',
    'json',
  ];
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_CACHE_HOME: caches,
      ERRAND_STATE_DIR: folder,
      ERRAND_CONFIG_DIR: folder,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await firstLine(child, 'the sandbox ended');
  const { base_url: baseUrl, shop_url: shopUrl } = JSON.parse(line) as Record<string, string>;
  return { child, baseUrl: baseUrl ?? '', shopUrl: shopUrl ?? '' };
}

const gone = (child: ChildProcess) => new Promise((resolve) => child.once('close', resolve));

test(`kill -9 in the middle of load, ${rounds} times: what was accepted is there, once, and the money adds up`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-kill-'));
  const random = new Random(20_260_301);
  /** Intents acknowledged with 201, mapped to order ids. */
  const accepted = new Map<string, string>();
  /** Intents sent without a response so far. */
  const open = new Set<string>();
  let next = 0;
  let responded = 0;
  let key = '';
  let running: ChildProcess | undefined;
  try {
    for (let round = 0; round < rounds; round += 1) {
      const { child, baseUrl, shopUrl } = await serve(folder);
      running = child;
      const headers = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
      key ||= (
        (await (await fetch(`${baseUrl}/sandbox/keys`, { method: 'POST' })).json()) as { api_key: string }
      ).api_key;
      for (const id of [...accepted.values()].slice(-40))
        expect((await fetch(`${baseUrl}/orders/${id}`, { headers: headers() })).status).toBe(200);
      let isKilled = false;
      const place = async (intent: string): Promise<void> => {
        open.add(intent);
        const body = {
          ...orderBody(`${shopUrl}/test-success`),
          max_price: 1,
          idempotency_key: intent,
          metadata: { intent },
        };
        const response = await fetch(`${baseUrl}/orders`, {
          method: 'POST',
          headers: headers(),
          body: JSON.stringify(body),
        });
        const record = (await response.json()) as { id: string; details?: { identifier: string } };
        if (response.status === 201) accepted.set(intent, record.id);
        else if (response.status === 409) accepted.set(intent, record.details?.identifier ?? '');
        else throw new Error(`the service returned ${response.status}: ${JSON.stringify(record)}`);
        open.delete(intent);
        responded += 1;
      };
      const waiting = [...open];
      const work = async (): Promise<void> => {
        while (!isKilled) {
          const intent = waiting.shift() ?? `intent-${next++}`;
          try {
            await place(intent);
          } catch (error) {
            if (!isKilled && !(error instanceof TypeError)) throw error;
            return;
          }
        }
      };
      const load = Promise.all(Array.from({ length: clients }, work));
      const few = responded + random.integer(2, 12);
      await expect.poll(() => responded, { interval: 1 }).toBeGreaterThanOrEqual(few);
      await new Promise((resolve) => setTimeout(resolve, random.integer(0, 20)));
      const closed = gone(child);
      child.kill('SIGKILL');
      isKilled = true;
      await Promise.all([load, closed]);
    }

    const { child, baseUrl } = await serve(folder);
    running = child;
    const orders: { id: string; status: string; metadata: { intent: string } }[] = [];
    for (let total = 1; orders.length < total; ) {
      const response = await fetch(`${baseUrl}/orders?limit=500&offset=${orders.length}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const page = (await response.json()) as { orders: typeof orders; total: number };
      orders.push(...page.orders);
      total = page.total;
    }
    const byIntent = new Map(orders.map(({ metadata, id }) => [metadata.intent, id]));
    expect(byIntent.size).toBe(orders.length);
    for (const [intent, id] of accepted) expect(byIntent.get(intent)).toBe(id);
    expect(accepted.size).toBeGreaterThan(rounds * 2);
    await expect
      .poll(async () => {
        const response = await fetch(`${baseUrl}/orders?status_filter=order_failed`, {
          headers: { authorization: `Bearer ${key}` },
        });
        return ((await response.json()) as { total: number }).total;
      })
      .toBe(orders.length);
    const ended = gone(child);
    child.kill('SIGTERM');
    await ended;

    const Database = loadSqlite();
    const database = new Database(join(folder, 'sandbox.db'));
    const [wallet] = database
      .prepare(
        'SELECT w.balance, w.reserved, sum(l.cents) AS entered FROM wallets w JOIN ledger l USING (user_id)',
      )
      .all() as { balance: number; reserved: number; entered: number }[];
    database.close();
    expect(wallet?.balance).toBe(wallet?.entered);
    expect(wallet?.reserved).toBe(0);
  } finally {
    running?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
