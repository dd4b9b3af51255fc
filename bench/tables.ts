import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writeOrdersCsv } from './orders-csv.ts';
import { program, run } from './program.ts';
import { type BenchSandbox, fillWallet, startSandbox } from './sandbox.ts';
import { atMost, growth, mebibytes, type Row } from './table.ts';

const many = 20_000;
/** Most memory of a report, MB. */
const maxMegabytes = 200;

interface Steps {
  readonly name: string;
  readonly args: (file: string) => readonly string[];
  /** Most processor time, s. */
  readonly aim: number;
}

const plan = (file: string): string => `${file}.plan`;

const steps: readonly Steps[] = [
  {
    name: 'bulk plan --no-prices',
    args: (file) => ['bulk', 'plan', file, '--no-prices', '--out', plan(file)],
    aim: 5,
  },
  { name: 'bulk apply', args: (file) => ['bulk', 'apply', plan(file), '-o', 'ndjson'], aim: 10 },
  { name: 'bulk results', args: () => ['bulk', 'results', 'orders'], aim: 2 },
  { name: 'bulk report', args: () => ['bulk', 'report', 'orders', '-o', 'json'], aim: 2 },
  { name: 'reconcile', args: () => ['reconcile', '-o', 'json'], aim: 4 },
  { name: 'spend', args: () => ['spend', '-o', 'json'], aim: 1 },
  { name: 'spend export', args: () => ['spend', 'export', '--as', 'hledger'], aim: 1 },
];

/** A table from its plan to its report: processor time and memory, and how they grow with the rows. */
export async function measure(folder: string): Promise<Row[]> {
  const [one, ten] = [await measured(folder, many / 10), await measured(folder, many)];
  return steps.flatMap(({ name, aim }) => {
    const [few, all] = [one.get(name), ten.get(name)];
    if (!few || !all) throw new Error(`${name} was not measured`);
    return [
      atMost(`${name}, 20,000 rows: processor time`, all.ms / 1000, aim, 's'),
      {
        name: 'its peak memory',
        figure: mebibytes(all.peak),
        aim: `${maxMegabytes} MB`,
        isMet: all.peak <= maxMegabytes * 2 ** 20,
      },
      ...growth(name, few, all),
    ];
  });
}

async function measured(folder: string, rows: number) {
  const place = join(folder, String(rows));
  mkdirSync(place, { recursive: true });
  const sandbox = await startSandbox(place, '--speed', '1000');
  const found = new Map<string, { readonly ms: number; readonly peak: number }>();
  try {
    await fillWallet(sandbox);
    const file = join(place, 'orders.csv');
    await writeOrdersCsv(file, rows, `${sandbox.baseUrl}/shop/test-success`);
    for (const { name, args } of steps) {
      const { cpuMs, peak } = await run([program, ...args(file)], { folder: place, env: sandbox.env });
      found.set(name, { ms: cpuMs, peak });
      if (name === 'bulk apply') await until(async () => (await placed(sandbox)) === rows);
    }
  } finally {
    await sandbox.stop();
  }
  return found;
}

/** Number of orders placed. */
async function placed({ baseUrl, headers }: BenchSandbox): Promise<number> {
  const response = await fetch(`${baseUrl}/orders?status=order_placed&limit=1`, { headers });
  const { total }: { total: number } = JSON.parse(await response.text());
  return total;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(200);
}
