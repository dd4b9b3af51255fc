import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openGate } from '../test/service/gate.ts';
import { writeOrdersCsv } from './orders-csv.ts';
import { bare, program, type Run, run } from './program.ts';
import { fillWallet, startSandbox } from './sandbox.ts';
import { atMost, growth, type Row, timeBeside } from './table.ts';

/** An upload, with its check before and its journal, beside a loop that sends the same batches and keeps nothing. */
export async function measure(folder: string): Promise<Row[]> {
  const small = await uploaded(folder, 5_000);
  const large = await uploaded(folder, 50_000);
  return [
    timeBeside('bulk upload, 50,000 rows, served', large.own.ms, {
      name: 'a plain loop of requests, unchecked and unjournaled',
      ms: large.loop.ms,
    }),
    atMost('bulk upload, 50,000 rows', large.own.ms / 1000, 8, 's'),
    { name: 'its requests in flight, at most', figure: String(await mostInFlight(folder)) },
    atMost('its peak memory', large.own.peak / 2 ** 20, 200, 'MB'),
    ...growth('bulk upload', small.own, large.own),
  ];
}

async function uploaded(folder: string, rows: number): Promise<{ own: Run; loop: Run }> {
  const place = join(folder, String(rows));
  mkdirSync(place);
  const file = join(place, 'orders.csv');
  // A ceiling that nothing fits under: what is measured is the upload, not the buying.
  const own = await served(place, 'own', async (sandbox, base) => {
    await writeOrdersCsv(file, rows, `${base}/shop/test-price-exceeded`, 1);
    return run([program, 'bulk', 'upload', file, '-o', 'ndjson'], { folder: place, env: sandbox });
  });
  const loop = await served(place, 'loop', async ({ ERRAND_API_KEY: key = '' }, base) => {
    await writeOrdersCsv(file, rows, `${base}/shop/test-price-exceeded`, 1);
    return run([bare('upload-loop.mjs'), file, base, `Bearer ${key}`], { folder: place });
  });
  return { own, loop };
}

/** Counted in an upload of its own: what counts stands between the two and takes a part of the processor. */
function mostInFlight(folder: string): Promise<number> {
  const place = join(folder, 'counted');
  mkdirSync(place);
  const file = join(place, 'orders.csv');
  return served(place, 'own', async (sandbox, base) => {
    await writeOrdersCsv(file, 5_000, `${base}/shop/test-price-exceeded`, 1);
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

async function served<T>(
  place: string,
  name: string,
  work: (env: Readonly<Record<string, string>>, baseUrl: string) => Promise<T>,
): Promise<T> {
  const own = join(place, name);
  mkdirSync(own);
  const sandbox = await startSandbox(own);
  try {
    await fillWallet(sandbox);
    return await work(sandbox.env, sandbox.baseUrl);
  } finally {
    await sandbox.stop();
  }
}
