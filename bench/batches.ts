import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeOrdersCsv } from './orders-csv.ts';
import { program, run } from './program.ts';
import { type Row, timeBeside } from './table.ts';

const [batches, rowsEach] = [10, 5_000];

/**
 * Embedded: watching one batch of ten takes as long as watching all, since the sandbox processes every batch
 * regardless. At this speed all rows are due before either watch starts; at the default speed one is due each ms, and
 * the first watch would wait for the clock.
 */
export async function measure(folder: string): Promise<Row[]> {
  const state = join(folder, 'state');
  const kept = join(folder, 'kept');
  const file = join(folder, 'orders.csv');
  const env = { ERRAND_CONFIG_DIR: join(folder, 'config'), ERRAND_STATE_DIR: state };
  const errand = (...args: string[]) => run([program, ...args], { folder, env });
  const [product = ''] = (await errand('sandbox', 'products', '-o', 'id')).stdout.split('\n');
  await errand('config', 'set', 'sandbox-speed', '1000');
  await errand('sandbox', 'trigger', 'wallet-funded', '--amount-cents', '100000000000');
  await writeOrdersCsv(file, batches * rowsEach, product);
  const uploaded = await errand('bulk', 'upload', file, '--batch-size', String(rowsEach), '-o', 'id');
  const ids = uploaded.stdout.trim().split('\n');
  cpSync(state, kept, { recursive: true });
  const one = await errand('bulk', 'watch', ids.at(-1) ?? '');
  rmSync(state, { recursive: true });
  cpSync(kept, state, { recursive: true });
  const all = await errand('bulk', 'watch', ...ids);
  return [
    timeBeside(
      'bulk watch, one batch of 5,000 rows among ten, embedded',
      one.ms,
      { name: 'a watch of all ten', ms: all.ms },
      1.1,
    ),
  ];
}
