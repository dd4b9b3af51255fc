import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { openGate } from '../test/support/gate.ts';
import { writeOrdersCsv } from './orders-csv.ts';
import { bare, highestPeak, inRounds, middle, middleOf, pairs, program, type Run, run } from './program.ts';
import { fillWallet, startSandbox } from './sandbox.ts';
import { atMost, growth, type Row, timeBeside } from './table.ts';

const rounds = 3;

/** An upload, with validation and journal, against a loop that sends the same batches and persists nothing. */
export async function measure(folder: string): Promise<Row[]> {
  const [small, large, loop] = await inRounds(
    rounds,
    () => uploaded(folder, 5_000),
    () => uploaded(folder, 50_000),
    () => looped(folder, 50_000),
  );
  const { own, other } = middle(pairs(large, loop));
  return [
    timeBeside('bulk upload, 50,000 rows, served', own.ms, {
      name: 'a plain loop of requests, unchecked and unjournaled',
      ms: other.ms,
    }),
    atMost('bulk upload, 50,000 rows', own.ms / 1000, 8, 's'),
    { name: 'its requests in flight, at most', figure: String(await mostInFlight(folder)) },
    atMost('its peak memory', highestPeak(large) / 2 ** 20, 200, 'MB'),
    ...growth('bulk upload', middleOf(small), middleOf(large)),
  ];
}

const uploaded = (folder: string, rows: number): Promise<Run> =>
  served(folder, async (place, sandbox, base) => {
    const file = await cheapOrders(place, rows, base);
    return run([program, 'bulk', 'upload', file, '-o', 'ndjson'], { folder: place, env: sandbox });
  });

const looped = (folder: string, rows: number): Promise<Run> =>
  served(folder, async (place, { ERRAND_API_KEY: key = '' }, base) => {
    const file = await cheapOrders(place, rows, base);
    return run([bare('upload-loop.mjs'), file, base, `Bearer ${key}`], { folder: place });
  });

/** Uses a ceiling below any price: this measures the upload, not the purchases. */
async function cheapOrders(place: string, rows: number, base: string): Promise<string> {
  const file = join(place, 'orders.csv');
  await writeOrdersCsv(file, rows, `${base}/shop/test-price-exceeded`, 1);
  return file;
}

/** Measured in a separate upload: the counting proxy takes CPU time. */
function mostInFlight(folder: string): Promise<number> {
  return served(folder, async (place, sandbox, base) => {
    const file = await cheapOrders(place, 5_000, base);
    const gate = await openGate(base);
    try {
      const env = { ...sandbox, ERRAND_BASE_URL: gate.baseUrl };
      await run([program, 'bulk', 'upload', file, '-o', 'ndjson'], { folder: place, env });
      return gate.mostInFlight();
    } finally {
      gate.close();
    }
  });
}

/** Runs `work` against a fresh sandbox in its own directory. */
async function served<T>(
  folder: string,
  work: (place: string, env: Readonly<Record<string, string>>, baseUrl: string) => Promise<T>,
): Promise<T> {
  const place = mkdtempSync(join(folder, 'upload-'));
  const sandbox = await startSandbox(place);
  try {
    await fillWallet(sandbox);
    return await work(place, sandbox.env, sandbox.baseUrl);
  } finally {
    await sandbox.stop();
  }
}
