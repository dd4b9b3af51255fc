/** What the journal costs an order: record and settle, each synced to disk. Prints a line, writes nothing that stays. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Journal } from '../src/state/journal.ts';

const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'));
const rounds = 500;
try {
  const opening = performance.now();
  const journal = await Journal.open(folder, Date.now);
  const opened = performance.now() - opening;
  const times = Array.from({ length: rounds }, () => {
    const key = randomUUID();
    const body = {
      products: [{ url: `https://shop.example/${key}`, quantity: 1 }],
      max_price: 5000,
      idempotency_key: key,
    };
    const started = performance.now();
    journal.record({
      key,
      operation: 'order.create',
      profile: 'local',
      baseUrl: 'https://service.example',
      keyMasked: '…',
      body,
    });
    journal.settle(key, 'https://service.example', key);
    return performance.now() - started;
  }).toSorted((a, b) => a - b);
  journal.close();
  const [median, worst] = [times[rounds / 2] ?? 0, times[Math.floor(rounds * 0.99)] ?? 0];
  console.log(
    `journal: opening ${opened.toFixed(1)} ms, an order ${median.toFixed(2)} ms (p99 ${worst.toFixed(2)} ms)  aim 10 ms`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
