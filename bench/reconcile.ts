import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writeOrdersCsv } from './orders-csv.ts';
import { program, run } from './program.ts';
import { type BenchSandbox, fillWallet, startSandbox } from './sandbox.ts';
import { type Row, spell } from './table.ts';

/** Maximum cost ratio for four times the orders. */
const aim = 6;

/** CPU time of `reconcile` after one machine's uploads, and how it scales with the orders. */
export async function measure(folder: string): Promise<Row[]> {
  const small = await reconciled(folder, 5_000);
  const large = await reconciled(folder, 20_000);
  const ratio = large / small;
  return [
    {
      name: 'reconcile of 20,000 orders, processor time',
      figure: `${spell(large)}, ${ratio.toFixed(1)}x that of 5,000 (${spell(small)})`,
      aim: `${aim}x`,
      isMet: ratio <= aim,
    },
  ];
}

/** @returns CPU time, ms. */
async function reconciled(folder: string, count: number): Promise<number> {
  const place = mkdtempSync(join(folder, 'reconcile-'));
  const sandbox = await startSandbox(place, '--speed', '1000');
  try {
    await fillWallet(sandbox);
    const file = join(place, 'orders.csv');
    await writeOrdersCsv(file, count, `${sandbox.baseUrl}/shop/test-success`);
    const own = (...args: string[]) => run([program, ...args], { folder: place, env: sandbox.env });
    await own('bulk', 'upload', file, '-o', 'ndjson');
    await until(async () => (await placed(sandbox)) === count);
    const { cpuMs, stdout } = await own('reconcile', '-o', 'json');
    const { orders }: { orders: unknown } = JSON.parse(stdout);
    if (orders !== count) throw new Error(`${orders} of ${count} orders were compared`);
    return cpuMs;
  } finally {
    await sandbox.stop();
  }
}

async function placed({ baseUrl, headers }: BenchSandbox): Promise<number> {
  const response = await fetch(`${baseUrl}/orders?status=order_placed&limit=1`, { headers });
  const { total } = (await response.json()) as { total: number };
  return total;
}

async function until(isReached: () => Promise<boolean>): Promise<void> {
  while (!(await isReached())) await setTimeout(500);
}
