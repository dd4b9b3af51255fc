/** Listing the newest 50 of 200,000 orders beside that of 2,000, in one run, over HTTP. Prints a line, leaves nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveSandbox } from '../src/sandbox/serve.ts';
import { Store } from '../src/sandbox/store.ts';

const sizes = [2_000, 200_000] as const;
const rounds = 60;

/** A served sandbox whose one user has many orders, copied in the store from a first one. */
async function serveWith(count: number, folder: string) {
  const file = join(folder, `${count}.db`);
  const served = await serveSandbox({
    host: '127.0.0.1',
    port: 0,
    file,
    now: Date.now,
    report: console.error,
  });
  const minted = await fetch(`${served.baseUrl}/sandbox/keys`, { method: 'POST' });
  const { api_key: key, example_order: order } = (await minted.json()) as {
    api_key: string;
    example_order: object;
  };
  const headers = { authorization: `Bearer ${key}` };
  await fetch(`${served.baseUrl}/orders`, { method: 'POST', headers, body: JSON.stringify(order) });
  const store = await Store.open(file);
  store.database.exec(`
    BEGIN;
    UPDATE orders SET next_due = NULL;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
    INSERT INTO orders (id, user_id, idempotency_key, created_at, status, recipient, created_by, reserved, fee, wallet_paid,
        record, listed, body, plan, next_due)
      SELECT printf('%08x-0000-4000-8000-%012x', i, i), user_id, 'copy-' || i, created_at - i * 1000, 'order_placed', recipient,
        created_by, 0, fee, wallet_paid, record, listed, body, '[]', NULL FROM orders, n WHERE seq = 1;
    UPDATE users SET order_count = ${count};
    COMMIT;`);
  store.close();
  return { served, headers };
}

async function medianOf(url: string, headers: Record<string, string>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    await (await fetch(url, { headers })).arrayBuffer();
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[rounds / 2] ?? 0;
}

const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'));
try {
  const queries = {
    'newest 50': 'limit=50',
    'newest 50 placed': 'limit=50&status_filter=order_placed',
    'created since': 'limit=50&created_after=2020-01-01',
  };
  const times = new Map<string, number[]>();
  for (const count of sizes) {
    const { served, headers } = await serveWith(count, folder);
    for (const [name, query] of Object.entries(queries)) {
      const median = await medianOf(`${served.baseUrl}/orders?${query}`, headers);
      times.set(name, [...(times.get(name) ?? []), median]);
    }
    await served.close();
  }
  for (const [name, [small = 0, large = 0]] of times) {
    const ratio = (large / small).toFixed(2);
    console.log(
      `${name.padEnd(20)} of 2,000: ${small.toFixed(2)} ms, of 200,000: ${large.toFixed(2)} ms  ${ratio}x${name === 'newest 50' ? '  aim 2' : ''}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
